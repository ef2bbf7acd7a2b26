/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _KADAPT_PROBES_H
#define _KADAPT_PROBES_H

int kadapt_probes_attach(void);
void kadapt_probes_detach(void);

#endif /* _KADAPT_PROBES_H */
