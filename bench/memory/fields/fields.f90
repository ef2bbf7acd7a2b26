! SPDX-License-Identifier: GPL-2.0-or-later
!
! fields: a tracer that spreads over a torus, with the arrays that Fortran codes have: automatic
! arrays in the routine of a step, and an array that every step allocates and deallocates.
!
! usage: fields [cells along a side [steps]]
!
! The amount that leaves a cell enters its neighbour, so the total stays constant. If it changes by
! more than a share of 1e-9, the program ends with status 1.
program fields
  use, intrinsic :: iso_fortran_env, only: real64, error_unit
  implicit none

  real(real64), parameter :: largest_difference = 1.0e-9_real64, diffusion_number = 0.2_real64
  real(real64), allocatable :: tracer(:, :)
  integer :: cells, steps, step
  real(real64) :: before, after

  cells = argument(1, 1000)
  steps = argument(2, 20)
  allocate (tracer(cells, cells))
  call begin(tracer)
  before = sum(tracer)
  do step = 1, steps
    call spread_out(cells, tracer)
  end do
  after = sum(tracer)
  print '(a, es24.17, a, es24.17)', 'total ', after, ' squares ', sum(tracer**2)
  if (.not. abs(after - before) <= largest_difference*before) then
    write (error_unit, '(a, es10.3)') 'fields: the total changed by ', after - before
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
    if (status /= 0 .or. argument < 2) then
      write (error_unit, '(2a)') 'fields: a whole number from 2 is expected, not ', trim(text)
      stop 1
    end if
  end function argument

  subroutine begin(field)
    real(real64), intent(out) :: field(:, :)
    integer :: row, column

    do column = 1, size(field, 2)
      do row = 1, size(field, 1)
        field(row, column) = real(1 + mod(7*row + 3*column, 11), real64)
      end do
    end do
  end subroutine begin

  subroutine spread_out(n, field)
    integer, intent(in) :: n
    real(real64), intent(inout) :: field(n, n)
    real(real64) :: downwards(n, n), sideways(n, n)
    real(real64), allocatable :: change(:, :)

    call flows(n, field, downwards, sideways)
    allocate (change(n, n))
    change(2:, :) = downwards(:n - 1, :) - downwards(2:, :)
    change(1, :) = downwards(n, :) - downwards(1, :)
    change(:, 2:) = change(:, 2:) + sideways(:, :n - 1) - sideways(:, 2:)
    change(:, 1) = change(:, 1) + sideways(:, n) - sideways(:, 1)
    field = field + change
    deallocate (change)
  end subroutine spread_out

  ! The flow from each cell into the next cell of its column, and of its row.
  subroutine flows(n, field, downwards, sideways)
    integer, intent(in) :: n
    real(real64), intent(in) :: field(n, n)
    real(real64), intent(out) :: downwards(n, n), sideways(n, n)

    downwards(:n - 1, :) = diffusion_number*(field(:n - 1, :) - field(2:, :))
    downwards(n, :) = diffusion_number*(field(n, :) - field(1, :))
    sideways(:, :n - 1) = diffusion_number*(field(:, :n - 1) - field(:, 2:))
    sideways(:, n) = diffusion_number*(field(:, n) - field(:, 1))
  end subroutine flows

end program fields
