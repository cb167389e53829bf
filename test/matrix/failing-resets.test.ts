import { testenvsOfFile } from '@metal/testenv/testenv.ts';
import { restoresBootOrder } from '../fixtures/cleanup-fixture.ts';
import { type FailingReset, testFailingReset } from '../fixtures/failing-reset-fixture.ts';

const startTestenv = testenvsOfFile();

const failingResets: readonly FailingReset[] = [
  {
    title: 'that the BIOS does not offer',
    fault: ({ bmc }) => bmc.set({ lacksBiosReset: true }),
    message: /offers no reset of its BIOS/,
  },
  {
    title: 'answered with 500',
    fault: ({ bmc }) => bmc.answer(500, { path: 'Actions/Bios.ResetBios' }),
    message: /could not be reset within/,
  },
  {
    title: 'of a boot order that the BMC ignores',
    fault: ({ bmc }) => bmc.set({ ignoresBootOrder: true }),
    message: /boot order was accepted and not shown/,
    // Long enough to request the order and to read it back.
    flags: [restoresBootOrder, '--cleanup-timeout=3m'],
  },
];

for (const reset of failingResets) testFailingReset(startTestenv, reset);
