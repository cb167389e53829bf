import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { deploymentReasons } from '../deployment-reasons.ts';

/** Reasons of a boot configuration that waits for a boot service, or has been answered. */
export const bootConfigurationReasons = {
  ...deploymentReasons,
  ServerNotFound: {
    meaning: 'The Server that spec.serverRef names does not exist.',
    remedy: 'Correct spec.serverRef, or delete the boot configuration if its server is gone for good.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl edit serverbootconfiguration -n {namespace} {name}',
  },
  WaitingForBootService: {
    meaning: 'No boot service has said yet whether it can boot this image.',
    remedy: 'Start one: --components must name boot, or an external boot operator must run and watch this namespace.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get pods -A',
  },
  Preparing: {
    meaning: 'The boot service is at it, and says in a condition of its own what takes so long.',
    remedy: 'Nothing; a pull that makes no progress is ended and tried again, and then says what is wrong.',
    weight: 'working',
    actor: 'operator',
  },
  Prepared: {
    meaning: 'The boot service found everything it needs; the server may be powered on.',
    remedy: 'Nothing; the trace of the boot appears in status.boot.',
    weight: 'ok',
    actor: 'operator',
  },
  PreparationFailed: {
    meaning: 'The boot service cannot boot what is asked for.',
    remedy:
      'Read its own condition, ImageValidation, IgnitionValidation or ScriptValidation, and correct what it names; it is looked at again by itself.',
    weight: 'failed',
    actor: 'tenant',
    command: 'kubectl describe serverbootconfiguration -n {namespace} {name}',
  },
} as const satisfies ReasonCatalogue;

export type BootConfigurationReason = keyof typeof bootConfigurationReasons;
