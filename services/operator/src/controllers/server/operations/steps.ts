import { act, go } from '@metal/kube/controller/decide.ts';
import { blocker, pollOrWait } from '../bmc/steps.ts';
import { isClean, makeAvailable } from '../cleanup/steps.ts';
import { readHardwareAgain } from '../discovery/steps.ts';
import { ensurePower } from '../power/steps.ts';
import { adopt } from './adoption.ts';
import type { GlobalPhase, ServerFacts, ServerPhase, Step } from '../types.ts';

/** The operation annotation, and what interrupted or parked operations left. */
export function operationStep(name: ServerPhase, server: ServerFacts): Step<GlobalPhase> | undefined {
  const { operation, parked } = server;
  if (operation.kind === 'unpark')
    return parked ? act('unpark', 'Unparking') : act('consumeOperation', 'OperationConsumed', 'it is not parked');
  if (server.decommission.isDone) return decommissionedStep(server);
  if (operation.kind === 'interrupted') return act('dropInterruptedOperation', 'OperationUncertain');
  if (parked) {
    if (operation.kind !== 'none') return act('dropParkedOperation', 'ParkedOperationDropped');
    // `park` has recorded the event.
    return name === 'Parked' ? undefined : go('Parked', 'ParkRequested', undefined, 'none');
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
    case 'adopt':
      return adopt(name, server);
    case 'decommission':
      return act('acceptDecommission', 'DecommissionRequested', operation.value);
    case 'recommission':
      return recommission(name, server);
    default:
      return operation satisfies never;
  }
}

/** Nothing is done for a decommissioned server, except to bring it back. */
function decommissionedStep({ operation }: ServerFacts): Step | undefined {
  if (operation.kind === 'none') return undefined;
  return operation.kind === 'recommission'
    ? act('recommission', 'Recommissioned')
    : act('dropDecommissionedOperation', 'DecommissionedOperationDropped');
}

/** A reset of the BMC cannot be taken back: the decommission ends, and then the server comes back. */
function recommission(name: ServerPhase, { decommission }: ServerFacts): Step | undefined {
  if (decommission.request === undefined)
    return act('consumeOperation', 'OperationConsumed', 'it is not being decommissioned');
  if (name === 'Decommissioning' && decommission.bmcReset !== 'none') return undefined;
  return act('recommission', 'Recommissioned');
}

/** The machine is shut down before the server is marked as parked. */
function park(name: ServerPhase, server: ServerFacts): Step<'Error'> | undefined {
  // The phase verifies the claim first.
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

/** Phase Parked. */
export function stayParked(
  server: ServerFacts,
): Step<'Available' | 'Decommissioning' | 'Cleanup' | 'Initial' | 'Reserved'> {
  if (server.parked)
    return pollOrWait(server, 'Parked', 'parked; annotate metal.ironcore.dev/operation=unpark to give it back');
  return blocker(server) ?? readHardwareAgain(server) ?? resume(server);
}

function resume(server: ServerFacts): Step<'Available' | 'Decommissioning' | 'Cleanup' | 'Initial' | 'Reserved'> {
  const to = <const Next extends 'Available' | 'Reserved'>(next: Next) =>
    go(next, 'Resumed', undefined, { action: 'Resume', note: `Resumed Server from Parked state to ${next}` });
  return server.claim.binding === 'unbound' ? makeAvailable(server, to('Available')) : to('Reserved');
}

/** Phase Error: a failed cleanup is repeated; any other failure leads to a discovery. */
export function retry(server: ServerFacts): Step<'Reserved' | 'Cleanup' | 'Initial'> {
  if (server.claim.binding !== 'unbound') return go('Reserved', 'RetryRequested');
  return server.operation.kind === 'retry' && !isClean(server)
    ? go('Cleanup', 'RetryRequested')
    : go('Initial', 'RetryRequested');
}
