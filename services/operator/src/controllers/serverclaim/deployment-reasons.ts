import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Reasons of a claim with a disk image that is not on the disk of its server. */
export const claimDeploymentReasons = {
  Deploying: {
    meaning: 'The disk image of the claim is being written to the server.',
    remedy: 'Nothing; it goes on by itself.',
    weight: 'working',
    actor: 'operator',
    pointsTo: 'ServerBootConfiguration',
  },
  DeploymentFailed: {
    meaning: 'The disk image of the claim is not on the disk of the server, which is off. The message has the reason.',
    remedy:
      'Correct what the message names in spec.diskImage; if nothing has to be changed there, annotate metal.ironcore.dev/operation=reprovision.',
    weight: 'failed',
    actor: 'tenant',
    pointsTo: 'ServerBootConfiguration',
    command: 'kubectl describe serverclaim -n {namespace} {name}',
  },
} as const satisfies ReasonCatalogue;
