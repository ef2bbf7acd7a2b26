! SPDX-License-Identifier: GPL-2.0-or-later
! Loops over arrays, a select, a recursive function and an allocation in each step.
program columns
  implicit none
  integer, parameter :: n = 30
  real(8) :: a(n, n)
  real(8), allocatable :: work(:)
  integer :: row, column, kinds(3)

  kinds = 0
  do column = 1, n
    do row = 1, n
      a(row, column) = mod(row * 31 + column * 17, 23) - 11
      select case (int(a(row, column)))
      case (:-1)
        kinds(1) = kinds(1) + 1
      case (0)
        kinds(2) = kinds(2) + 1
      case default
        kinds(3) = kinds(3) + 1
      end select
    end do
  end do
  do column = 2, n
    allocate (work(column))
    work = a(1:column, column) * 2
    where (work > 0) work = work - a(1:column, 1)
    a(1:column, column) = work
    deallocate (work)
  end do
  print *, kinds, sum(a), depth(9)
contains
  recursive function depth(level) result(total)
    integer, intent(in) :: level
    integer :: total

    total = 1
    if (level > 0) total = total + depth(level - 1) + depth(level / 2)
  end function depth
end program columns
