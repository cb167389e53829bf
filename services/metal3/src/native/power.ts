import { ServerClaim } from '@metal/api/v1alpha1/server-claim.ts';
import { isAdoptionRequested } from '@metal/api/wire/adoption.ts';
import { operationAnnotation, operations } from '@metal/api/wire/contract.ts';
import type { PowerOffData } from '../provisioner/provisioner.ts';
import { done, type StepResult } from '../provisioner/step-result.ts';
import { guard, type NativePass, objectsOf, waiting, writeServer, written } from './native-pass.ts';

/** Undefined: the BMC does not tell, or the machine has no claim and is off. */
export function powerOf(pass: NativePass): boolean | undefined {
  const { powerState } = objectsOf(pass).server?.status ?? {};
  return powerState === 'On' ? true : powerState === 'Off' ? false : undefined;
}

/** The power of a machine follows its claim; a free machine stays off until an image is deployed to it. */
export async function powerHost(pass: NativePass, wanted: 'On' | 'Off'): Promise<StepResult> {
  const { client } = pass;
  const { server, claim } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  // It was never taken over: it stays as it is.
  if (claim === undefined && wanted === 'Off' && isAdoptionRequested(server)) return done;
  if (claim === undefined)
    return wanted === 'Off' && server.status?.powerState === 'Off'
      ? done
      : waiting('a machine without an image is off: the native provisioner starts it for a deployment');
  if (claim.spec.power !== wanted) {
    await client.mergePatch(ServerClaim, claim.metadata, { spec: { power: wanted } }, guard(claim));
    return written();
  }
  return server.status?.powerState === wanted ? done : waiting(`the machine is turned ${wanted.toLowerCase()}`);
}

/** Instead of a power-off, where that is forbidden. */
export async function restartHost(pass: NativePass, { mode }: PowerOffData): Promise<StepResult> {
  const { server } = objectsOf(pass);
  if (server === undefined) return { kind: 'unregistered' };
  if (server.metadata.annotations?.[operationAnnotation] !== undefined) return waiting('the machine is restarted');
  const operation = mode === 'hard' ? operations.hardRestartServer : operations.gracefulRestartServer;
  const patch = { metadata: { annotations: { [operationAnnotation]: operation } } };
  return writeServer(pass, server, patch, 'the machine is restarted');
}
