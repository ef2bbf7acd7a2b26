// SPDX-License-Identifier: GPL-2.0-only
/*
 * Points in two loops that never end: each turn of kswapd() that reclaims memory,
 * and each turn of do_idle().
 */
#include <kadence/unit.h>
#include <linux/mmzone.h>
#include <linux/moduleparam.h>

static unsigned int reclaims, idles;
module_param(reclaims, uint, 0444);
module_param(idles, uint, 0444);

KADENCE_REPLACES(balance_pgdat, int, pg_data_t *node, int order, int highest_zone)
{
	reclaims++;
	return KADENCE_ORIGINAL(balance_pgdat)(node, order, highest_zone);
}

KADENCE_BEFORE(tick_nohz_idle_enter, void)
{
	idles++;
}

KADENCE_UNIT_FOR_EVERYBODY;
