! SPDX-License-Identifier: GPL-2.0-or-later
!
! cg: a sparse system solved by conjugate gradients (Hestenes and Stiefel 1952), with OpenMP.
!
! usage: cg [edge [systems]]
!
! The matrix is the seven-point Laplacian of a cube of edge**3 cells with cold walls, stored by
! rows (CSR). For each system the program generates a solution of pseudo-random numbers and computes
! the right-hand side from it. An error above 1e-8, or a residual of the solution above 1e-10 of the
! right-hand side, ends the program with status 1.
!
! The output is the same on any number of threads: inner products are summed in blocks of a fixed
! length, and the blocks' sums in their order.
program cg
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  implicit none

  integer, parameter :: block = 1024, most_iterations = 10000
  real(real64), parameter :: largest_error = 1.0e-8_real64, largest_residual = 1.0e-10_real64
  integer, allocatable :: first(:), columns(:)
  real(real64), allocatable :: values(:), known(:), right(:), solution(:), left(:)
  integer :: edge, systems, system, iterations
  real(real64) :: error, residual
  logical :: accurate

  edge = argument(1, 40)
  systems = argument(2, 2)
  call laplacian(edge, first, columns, values)
  allocate (known(edge**3), right(edge**3), solution(edge**3), left(edge**3))
  accurate = .true.
  do system = 1, systems
    call make_up(known, int(system, int64))
    call multiply(known, right)
    call solve(right, solution, iterations)
    call multiply(solution, left)
    left = right - left
    residual = sqrt(inner(left, left) / inner(right, right))
    error = maxval(abs(solution - known))
    accurate = accurate .and. error <= largest_error .and. residual <= largest_residual
    print '(a, i0, a, i0, a, es10.3, a, es10.3, a, es24.17)', 'system ', system, &
      ' iterations ', iterations, ' residual ', residual, ' error ', error, ' sum ', sum(solution)
  end do
  if (.not. accurate) then
    write (error_unit, '(a)') 'cg: a solution is not accurate'
    stop 1
  end if

contains

  integer function argument(position, default)
    integer, intent(in) :: position, default
    integer, parameter :: largest = 500
    character(len=32) :: text
    integer :: status

    argument = default
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 1 .or. argument > largest) then
      write (error_unit, '(a, i0, 2a)') 'cg: a whole number from 1 to ', largest, &
        ' is expected, not ', trim(text)
      stop 1
    end if
  end function argument

  subroutine laplacian(n, row_starts, cells, entries)
    integer, intent(in) :: n
    integer, allocatable, intent(out) :: row_starts(:), cells(:)
    real(real64), allocatable, intent(out) :: entries(:)
    integer :: x, y, z, row, used

    allocate (row_starts(n**3 + 1), cells(7 * n**3), entries(7 * n**3))
    used = 0
    row = 0
    do z = 1, n
      do y = 1, n
        do x = 1, n
          row = row + 1
          row_starts(row) = used + 1
          if (z > 1) call append(cells, entries, used, row - n * n, -1.0_real64)
          if (y > 1) call append(cells, entries, used, row - n, -1.0_real64)
          if (x > 1) call append(cells, entries, used, row - 1, -1.0_real64)
          call append(cells, entries, used, row, 6.0_real64)
          if (x < n) call append(cells, entries, used, row + 1, -1.0_real64)
          if (y < n) call append(cells, entries, used, row + n, -1.0_real64)
          if (z < n) call append(cells, entries, used, row + n * n, -1.0_real64)
        end do
      end do
    end do
    row_starts(row + 1) = used + 1
  end subroutine laplacian

  subroutine append(cells, entries, used, cell, entry)
    integer, intent(inout) :: cells(:), used
    real(real64), intent(inout) :: entries(:)
    integer, intent(in) :: cell
    real(real64), intent(in) :: entry

    used = used + 1
    cells(used) = cell
    entries(used) = entry
  end subroutine append

  ! A minimal standard generator (Park and Miller 1988): the same numbers on every machine.
  subroutine make_up(x, seed)
    real(real64), intent(out) :: x(:)
    integer(int64), intent(in) :: seed
    integer(int64), parameter :: modulus = 2147483647_int64, multiplier = 16807_int64
    integer(int64) :: state
    integer :: cell

    state = 1 + mod(seed * 1000003_int64, modulus - 1)
    do cell = 1, size(x)
      state = mod(multiplier * state, modulus)
      x(cell) = real(state, real64) / real(modulus, real64)
    end do
  end subroutine make_up

  subroutine multiply(x, y)
    real(real64), intent(in) :: x(:)
    real(real64), intent(out) :: y(:)
    real(real64) :: total
    integer :: row, entry

    !$omp parallel do private(entry, total) schedule(static)
    do row = 1, size(y)
      total = 0
      do entry = first(row), first(row + 1) - 1
        total = total + values(entry) * x(columns(entry))
      end do
      y(row) = total
    end do
  end subroutine multiply

  real(real64) function inner(x, y)
    real(real64), intent(in) :: x(:), y(:)
    real(real64) :: sums((size(x) + block - 1) / block), total
    integer :: part, cell

    !$omp parallel do private(cell, total) schedule(static)
    do part = 1, size(sums)
      total = 0
      do cell = (part - 1) * block + 1, min(part * block, size(x))
        total = total + x(cell) * y(cell)
      end do
      sums(part) = total
    end do
    inner = sum(sums)
  end function inner

  ! y = y + factor * x
  subroutine add(y, factor, x)
    real(real64), intent(inout) :: y(:)
    real(real64), intent(in) :: factor, x(:)
    integer :: cell

    !$omp parallel do schedule(static)
    do cell = 1, size(y)
      y(cell) = y(cell) + factor * x(cell)
    end do
  end subroutine add

  ! y = x + factor * y
  subroutine scale_and_add(y, factor, x)
    real(real64), intent(inout) :: y(:)
    real(real64), intent(in) :: factor, x(:)
    integer :: cell

    !$omp parallel do schedule(static)
    do cell = 1, size(y)
      y(cell) = x(cell) + factor * y(cell)
    end do
  end subroutine scale_and_add

  subroutine solve(b, x, steps)
    real(real64), intent(in) :: b(:)
    real(real64), intent(out) :: x(:)
    integer, intent(out) :: steps
    real(real64) :: residuals(size(b)), direction(size(b)), image(size(b))
    real(real64) :: squared, before, length, enough

    x = 0
    residuals = b
    direction = b
    squared = inner(residuals, residuals)
    ! A hundredth of the required residual, because the recursive residual drifts from the true one.
    enough = squared * (0.01_real64 * largest_residual)**2
    do steps = 0, most_iterations - 1
      if (squared <= enough) return
      call multiply(direction, image)
      length = squared / inner(direction, image)
      call add(x, length, direction)
      call add(residuals, -length, image)
      before = squared
      squared = inner(residuals, residuals)
      call scale_and_add(direction, squared / before, residuals)
    end do
  end subroutine solve

end program cg
