! SPDX-License-Identifier: GPL-2.0-or-later
! records FILE: writes formatted and unformatted records, flushes at times, reads some back.
program records
  implicit none
  character(len=256) :: path
  character(len=32) :: line
  integer :: i
  real(8) :: values(4)

  call get_command_argument(1, path)
  open (unit=10, file=trim(path), status='replace', action='readwrite')
  open (unit=11, file=trim(path)//'.copy', status='replace', form='unformatted', access='stream')
  do i = 1, 20000
    write (10, '(a,i8)') 'record ', i
    values = i / 7.0d0
    write (11) values
    if (mod(i, 1000) == 0) flush (11)
  end do
  rewind (10)
  do i = 1, 5
    read (10, '(a)') line
    print '(a)', trim(line)
  end do
  close (10)
  close (11)
end program records
