// SPDX-License-Identifier: MIT
#include "base/levels.h"
#include "ranks/schedule.h"

uint32_t kadapt_schedule_levels(const struct kadapt_schedule *schedule, uint32_t visit)
{
	uint32_t slot_visits = schedule->last + 1U;
	uint32_t slot = (visit - schedule->from) / slot_visits;

	if (!schedule->has_block || visit < schedule->from || slot > 1)
		return schedule->standing;
	return kadapt_levels_with(schedule->standing, (enum kadapt_tried)schedule->policy,
				  (slot == 0) == schedule->is_first ? schedule->level
								    : KADAPT_LEVEL_PLAIN);
}
