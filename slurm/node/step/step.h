// SPDX-License-Identifier: GPL-2.0-or-later
/* A step's command. */
#ifndef KADENCE_NODE_STEP_H
#define KADENCE_NODE_STEP_H

namespace kadence
{

/* kadence-step: becomes the command of a step, as was decided. Returns only after a failure. */
int become_step(char *arguments[]);

} // namespace kadence

#endif
