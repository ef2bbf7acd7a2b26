! SPDX-License-Identifier: GPL-2.0-or-later
! Arrays that are allocated, moved, resized or automatic, and one too large for any memory.
program work_arrays
  implicit none
  real(8), allocatable :: grid(:, :), moved(:, :), list(:)
  integer :: step, status
  integer(8) :: too_much

  do step = 1, 6
    allocate (grid(700, 300 + 10 * step))
    grid = step
    call move_alloc(grid, moved)
    list = [moved(:, 1), moved(1, :)]
    list = [list, smoothed(400000 + step)]
    print '(f14.3, i9)', sum(moved) + sum(list), size(list)
    deallocate (moved)
  end do
  too_much = 2_8**58
  allocate (grid(10, 10))
  allocate (moved(too_much, 8), stat=status)
  print *, status /= 0
contains
  function smoothed(count) result(ends)
    integer, intent(in) :: count
    real(8) :: ends(2), values(count)
    integer :: i
    do i = 1, count
      values(i) = i
    end do
    values(2:count - 1) = (values(1:count - 2) + values(3:count)) / 2
    ends = [values(1), values(count)]
  end function smoothed
end program work_arrays
