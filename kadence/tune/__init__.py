# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence tune`: what cannot change inside a run is predicted, raced and confirmed."""
