! SPDX-License-Identifier: GPL-2.0-or-later
! ALLOCATE and an automatic array: calls of malloc in the function itself.
program allocate
  implicit none
  integer, parameter :: elements = 512 * 512
  real(8), allocatable :: field(:)
  allocate(field(elements))
  field = 1.0d0
  if (total(elements, field) /= 2.0d0 * elements) stop 1
contains
  real(8) function total(n, values)
    integer, intent(in) :: n
    real(8), intent(in) :: values(n)
    real(8) :: doubled(n)
    doubled = 2.0d0 * values
    total = sum(doubled)
  end function total
end program allocate
