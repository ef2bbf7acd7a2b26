! SPDX-License-Identifier: GPL-2.0-or-later
! Writes numbers to a scratch file, reads them back and prints their sum.
program sum_of_squares
  implicit none
  integer :: i, number, total
  open (unit=10, status='scratch', form='unformatted')
  do i = 1, 100
    write (10) i * i
  end do
  rewind (10)
  total = 0
  do i = 1, 100
    read (10) number
    total = total + number
  end do
  print '(i0)', total
end program sum_of_squares
