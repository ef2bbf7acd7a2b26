! SPDX-License-Identifier: GPL-2.0-or-later
!
! lu: LU decomposition with partial pivoting, and a check of the residual.
!
! usage: lu [order [systems]]
!
! For each system the program generates a matrix of pseudo-random numbers and a right-hand side
! for which the solution is all ones. It then factorises and solves the system. The residual is
! normalised as in LINPACK: |Ax - b| / (n |A| |x| epsilon) stays of order 1 for a backward
! stable elimination. A residual of 16 or more ends the program with status 1.
program lu
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  implicit none

  real(real64), parameter :: largest_residual = 16.0_real64
  real(real64), allocatable :: matrix(:, :), factors(:, :), right(:), solution(:)
  integer, allocatable :: pivots(:)
  integer :: order, systems, system
  real(real64) :: residual
  logical :: accurate

  order = argument(1, 1000)
  systems = argument(2, 12)
  allocate (matrix(order, order), factors(order, order), right(order), solution(order))
  allocate (pivots(order))
  accurate = .true.
  do system = 1, systems
    call generate(matrix, right, int(system, int64))
    factors = matrix
    call factorise(factors, pivots)
    solution = right
    call solve(factors, pivots, solution)
    residual = normalised_residual(matrix, right, solution)
    accurate = accurate .and. residual < largest_residual
    print '(a, i0, a, f0.6, a, es24.17)', 'system ', system, ' residual ', residual, &
      ' sum ', sum(solution)
  end do
  if (.not. accurate) then
    write (error_unit, '(a, f0.1)') 'lu: a residual is not below ', largest_residual
    stop 1
  end if

contains

  integer function argument(position, default)
    integer, intent(in) :: position, default
    character(len=32) :: text
    integer :: status

    argument = default
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *, iostat=status) argument
    if (status /= 0 .or. argument < 1) then
      write (error_unit, '(3a)') 'lu: a positive whole number is wanted, not ', trim(text)
      stop 1
    end if
  end function argument

  ! A minimal standard generator (Park and Miller 1988): the same matrix on every machine.
  subroutine generate(a, b, seed)
    real(real64), intent(out) :: a(:, :), b(:)
    integer(int64), intent(in) :: seed
    integer(int64), parameter :: modulus = 2147483647_int64, multiplier = 16807_int64
    integer(int64) :: state
    integer :: row, column

    state = 1 + mod(seed * 1000003_int64, modulus - 1)
    b = 0
    do column = 1, size(a, 2)
      do row = 1, size(a, 1)
        state = mod(multiplier * state, modulus)
        a(row, column) = real(state, real64) / real(modulus, real64) - 0.5_real64
      end do
      b = b + a(:, column)
    end do
  end subroutine generate

  ! Right-looking elimination, column by column; the multipliers replace the zeros.
  subroutine factorise(a, pivot_rows)
    real(real64), intent(inout) :: a(:, :)
    integer, intent(out) :: pivot_rows(:)
    integer :: step, column, n

    n = size(a, 1)
    do step = 1, n
      pivot_rows(step) = step - 1 + maxloc(abs(a(step:n, step)), dim=1)
      call swap(a(step, step), a(pivot_rows(step), step))
      a(step + 1:n, step) = a(step + 1:n, step) / a(step, step)
      do column = step + 1, n
        call swap(a(step, column), a(pivot_rows(step), column))
        a(step + 1:n, column) = a(step + 1:n, column) - a(step + 1:n, step) * a(step, column)
      end do
    end do
  end subroutine factorise

  subroutine swap(first, second)
    real(real64), intent(inout) :: first, second
    real(real64) :: kept

    kept = first
    first = second
    second = kept
  end subroutine swap

  subroutine solve(a, pivot_rows, x)
    real(real64), intent(in) :: a(:, :)
    integer, intent(in) :: pivot_rows(:)
    real(real64), intent(inout) :: x(:)
    integer :: step, n

    n = size(a, 1)
    do step = 1, n
      call swap(x(step), x(pivot_rows(step)))
      x(step + 1:n) = x(step + 1:n) - a(step + 1:n, step) * x(step)
    end do
    do step = n, 1, -1
      x(step) = x(step) / a(step, step)
      x(1:step - 1) = x(1:step - 1) - a(1:step - 1, step) * x(step)
    end do
  end subroutine solve

  real(real64) function normalised_residual(a, b, x)
    real(real64), intent(in) :: a(:, :), b(:), x(:)
    real(real64) :: error(size(b)), row_sums(size(b))
    integer :: column

    error = -b
    row_sums = 0
    do column = 1, size(a, 2)
      error = error + a(:, column) * x(column)
      row_sums = row_sums + abs(a(:, column))
    end do
    normalised_residual = maxval(abs(error)) &
      / (size(b) * maxval(row_sums) * maxval(abs(x)) * epsilon(1.0_real64))
  end function normalised_residual

end program lu
