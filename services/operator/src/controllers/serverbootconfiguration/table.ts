import { minutes, seconds } from '@metal/kube/runtime/durations.ts';
import { type PhaseTable, rest, rowsOf, wait } from '@metal/kube/controller/decide.ts';
import type { BootAction, BootConfigurationFacts, BootPhase } from './facts.ts';
import type { BootConfigurationReason } from './reasons.ts';

const row = rowsOf<BootPhase, BootConfigurationFacts, BootAction, BootConfigurationReason>();

/** A boot service usually answers at once; reporting Pending before that would be a needless write. */
const gracePeriodMs = seconds(6);

/** A boot service, ours or another one, answers a boot configuration. Until then the status reports what it waits for. */
export const bootTable: PhaseTable<BootPhase, BootConfigurationFacts, BootAction> = {
  Unanswered: row([], (boot) => {
    if (!boot.serverExists)
      return wait(
        minutes(10),
        'ServerNotFound',
        `Server "${boot.serverName}" of spec.serverRef does not exist; looked at again when it appears`,
      );
    if (boot.ageMs < gracePeriodMs) return wait(gracePeriodMs - boot.ageMs, 'WaitingForBootService');
    if (boot.preparation !== undefined) return wait(minutes(10), 'Preparing', boot.preparation);
    return wait(
      minutes(10),
      'WaitingForBootService',
      'no boot service has answered; is one running (--components=boot), or an external boot operator?',
    );
  }),
  Answered: row([], () => rest),
};
