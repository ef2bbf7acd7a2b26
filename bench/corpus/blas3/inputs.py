# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes the orders for xblat3d, in the format of LAPACK's dblat3.in, with larger matrices."""

from pathlib import Path

ORDERS = """'summary.out' NAME OF SUMMARY OUTPUT FILE
6 UNIT NUMBER OF SUMMARY FILE
'unused' NAME OF SNAPSHOT OUTPUT FILE
-1 UNIT NUMBER OF SNAPSHOT FILE (NOT USED IF .LT. 0)
F LOGICAL FLAG, T TO REWIND SNAPSHOT FILE AFTER EACH RECORD.
F LOGICAL FLAG, T TO STOP ON FAILURES.
T LOGICAL FLAG, T TO TEST ERROR EXITS.
16.0 THRESHOLD VALUE OF TEST RATIO
{count} NUMBER OF VALUES OF N
{sizes} VALUES OF N
3 NUMBER OF VALUES OF ALPHA
0.0 1.0 0.7 VALUES OF ALPHA
3 NUMBER OF VALUES OF BETA
0.0 1.0 1.3 VALUES OF BETA
DGEMM T PUT F FOR NO TEST. SAME COLUMNS.
DSYMM T PUT F FOR NO TEST. SAME COLUMNS.
DTRMM T PUT F FOR NO TEST. SAME COLUMNS.
DTRSM T PUT F FOR NO TEST. SAME COLUMNS.
DSYRK T PUT F FOR NO TEST. SAME COLUMNS.
DSYR2K T PUT F FOR NO TEST. SAME COLUMNS.
"""

for name, sizes in {
    "orders": (1, 7, 16, 24, 33, 40),
    "small": (1, 7, 16, 24),
    "other": (3, 8, 15, 28),
}.items():
    line = " ".join(map(str, sizes))
    Path(f"{name}.in").write_text(ORDERS.format(count=len(sizes), sizes=line), encoding="ascii")
