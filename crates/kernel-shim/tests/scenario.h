/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef WP_TEST_SCENARIO_H
#define WP_TEST_SCENARIO_H
void machine_hikey960(void);
void machine_small_x86(void);
void machine_big(unsigned n);
/* Returns what happens again and again. */
int (*storm(unsigned n, int with_deadlines))(void);
void probes(void);
void probes_report(void);
void weights(void);
void weights_report(void);
void parameters(void);
#endif
