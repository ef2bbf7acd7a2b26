! SPDX-License-Identifier: GPL-2.0-or-later
module work
  implicit none
contains
  subroutine fill(a, n)                          ! fill
    integer, intent(in) :: n
    real, intent(inout) :: a(n, n)
    integer :: i, j
    do j = 1, n                                  ! fill 1
      do i = 1, n                                ! fill 2
        a(i, j) = real(i) + real(j)
      end do
    end do
  end subroutine fill

  recursive integer function depth(n) result(d)  ! depth
    integer, intent(in) :: n
    d = 0
    if (n > 0) d = 1 + depth(n - 1)
  end function depth
end module work

program main                                     ! main
  use work
  implicit none
  real :: a(5, 5)
  integer :: k, total
  total = 0
  do k = 1, 3                                    ! main 1
    call fill(a, 5)
    call inner(k)
  end do
  print *, total + depth(4)
contains
  subroutine inner(x)                            ! inner
    integer, intent(in) :: x
    total = total + x
  end subroutine inner
end program main
