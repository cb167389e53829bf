import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Reasons of a claim about the disk of its server: its image is not there, or the server was adopted with what is there. */
export const claimDeploymentReasons = {
  Adopted: {
    meaning: 'The machine was taken over as it was; nothing was booted for the claim.',
    remedy: 'Nothing. To boot an image, set it and annotate metal.ironcore.dev/operation=reprovision.',
    weight: 'ok',
    actor: 'operator',
  },
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
