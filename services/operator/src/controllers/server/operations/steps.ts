import { ensurePower } from '../power/steps.ts';
import type { ServerFacts, ServerPhase, GlobalPhase, Step, ServerAction } from '../types.ts';
import { blocker } from '../bmc/steps.ts';
import { isClean, makeAvailable } from '../cleanup/steps.ts';
import type { ServerReason } from '../reasons.ts';
import { act, go, type Decision } from '@metal/kube/controller/decide.ts';

export function operationStep(name: ServerPhase, server: ServerFacts): Step<GlobalPhase> | undefined {
  const { operation, parked } = server;
  if (operation.kind === 'unpark')
    return parked ? act('unpark', 'Unparking') : act('consumeOperation', 'OperationConsumed', 'it is not parked');
  if (operation.kind === 'interrupted') return act('dropInterruptedOperation', 'OperationUncertain');
  if (parked) {
    if (operation.kind !== 'none') return act('dropParkedOperation', 'ParkedOperationDropped');
    return name === 'Parked' ? undefined : go('Parked', 'ParkRequested');
  }
  switch (operation.kind) {
    case 'none':
      return undefined;
    case 'unsupported':
      return act('dropUnsupportedOperation', 'UnsupportedOperation', operation.value);
    case 'park':
      return park(name, server);
    case 'reset':
      return blocker(server) ?? act('resetMachine', 'OperationRequested', operation.value);
    case 'retry':
      return name === 'Error' ? undefined : act('consumeOperation', 'RetryRequested');
    case 'rediscover':
      return rediscover(name);
    default:
      return operation satisfies never;
  }
}

/** Shut down first, then marked: what is parked is off. */
function park(name: ServerPhase, server: ServerFacts): Step<'Error'> | undefined {
  // The phase looks for the claim first.
  if (server.claim.binding === 'notInCache') return undefined;
  if (name !== 'Available' && name !== 'Reserved')
    return server.parkDeferralReported ? undefined : act('deferPark', 'ParkDeferred', `in state ${name}`);
  return (
    blocker(server) ??
    ensurePower(server, { target: 'Off', reason: 'ParkRequested', confirmation: 'stable' }) ??
    act('park', 'ParkRequested')
  );
}

function rediscover(name: ServerPhase): Step | undefined {
  if (name === 'Initial') return act('consumeOperation', 'RediscoveryRequested');
  if (name === 'Available' || name === 'Error') return undefined;
  return act('rejectRediscovery', 'RediscoverRefused', `in state ${name}`);
}

export function resume(
  server: ServerFacts,
): Decision<'Available' | 'Cleanup' | 'Reserved', ServerAction, ServerReason> {
  const to = <const Next extends 'Available' | 'Reserved'>(next: Next) =>
    go(next, 'Resumed', undefined, { action: 'Resume', note: `Resumed Server from Parked state to ${next}` });
  return server.claim.binding === 'unbound' ? makeAvailable(server, to('Available')) : to('Reserved');
}

/** What was cleaned up in vain is cleaned up again; what is not known any more is discovered. */
export const retry = (server: ServerFacts) =>
  server.operation.kind === 'retry' && !isClean(server)
    ? go('Cleanup', 'RetryRequested')
    : go('Initial', 'RetryRequested');
