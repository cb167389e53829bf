import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Why a claim cannot get a server: the reasons that the message of NoServerMatches counts. */
export const rejectionReasons = {
  AdoptionBootsNothing: {
    meaning: 'The machine of the server is to be taken over as it is, and the claim has an image.',
    remedy: 'Remove image and diskImage from the claim, or operation=adopt from the server.',
    weight: 'waiting',
    actor: 'tenant',
  },
  AwaitsAdoption: {
    meaning: 'The server has operation=adopt: only a claim that names it in spec.serverRef gets it.',
    remedy: 'Name it, in a claim without an image; or remove the operation from the server.',
    weight: 'waiting',
    actor: 'person',
  },
  BMCNotReady: {
    meaning: 'The BMC of the server does not answer, or cannot be used; its machine could not be started.',
    remedy: 'Look at the condition BMCReachable of the server; it can be given as soon as the BMC answers.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'BMC',
  },
  BeingDeleted: {
    meaning: 'The Server object is being deleted.',
    remedy: 'Nothing; it is gone soon, or says itself what its deletion waits for.',
    weight: 'waiting',
    actor: 'operator',
  },
  ClaimedByAnother: {
    meaning: 'Another claim holds the server, or is about to give it back.',
    remedy: 'Delete a claim that is no longer needed, or add servers.',
    weight: 'waiting',
    actor: 'tenant',
  },
  Cordoned: {
    meaning: 'spec.unclaimable keeps new claims away.',
    remedy: 'Set spec.unclaimable to false when the server may be used again.',
    weight: 'waiting',
    actor: 'person',
    command: `kubectl patch server {name} --type=merge -p '{"spec":{"unclaimable":false}}'`,
  },
  Decommissioning: {
    meaning: 'The server leaves the fleet, or has left it.',
    remedy: 'Add servers, or annotate it with metal.ironcore.dev/operation=recommission.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl annotate server {name} metal.ironcore.dev/operation=recommission',
  },
  DuplicateSystemUUID: {
    meaning: 'Another Server has the same system UUID and is acted on instead: there is only one machine.',
    remedy: 'Delete one of the two Servers; the condition SystemUUIDUnique names them.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl get servers',
  },
  InMaintenance: {
    meaning: 'A ServerMaintenance has the server.',
    remedy: 'Nothing; it is free again when the maintenance ends.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'ServerMaintenance',
  },
  LabelsDoNotMatch: {
    meaning: 'The labels of the server are not those of spec.serverSelector.',
    remedy: 'Label the server, or create the claim anew with another selector.',
    weight: 'waiting',
    actor: 'tenant',
  },
  NotReady: {
    meaning: 'The readiness rule in brackets is not satisfied, and the claim does not tolerate its taint.',
    remedy: 'Look at the status of the rule, and at the condition of the server that it wants.',
    weight: 'waiting',
    actor: 'hardware',
    pointsTo: 'ServerReadinessRule',
  },
  NotTheNamedServer: {
    meaning: 'The claim asks for another server by name.',
    remedy: 'Nothing; look at what is said of the server that spec.serverRef names.',
    weight: 'ok',
    actor: 'tenant',
  },
  NotYetOff: {
    meaning: 'The server is available, but was not seen switched off.',
    remedy: 'Nothing; it is being switched off. If it stays on, look at its condition Ready.',
    weight: 'waiting',
    actor: 'hardware',
  },
  OutOfDate: {
    meaning: 'The API server tells something else of the server than what was last seen of it; binding it just failed.',
    remedy: 'Nothing; it is looked at again as soon as the change is seen, and after ten seconds at the latest.',
    weight: 'working',
    actor: 'operator',
  },
  PromisedToAnOlderClaim: {
    meaning: 'An older claim chose the server and is about to be bound to it.',
    remedy: 'Nothing, if there are enough servers; otherwise add some.',
    weight: 'waiting',
    actor: 'operator',
  },
  ServerNotReady: {
    meaning: 'The server is Available, its BMC answers, and its condition Ready is not True.',
    remedy: 'Look at its condition Ready; it can be given as soon as that is True.',
    weight: 'waiting',
    actor: 'operator',
  },
  State: {
    meaning: 'The server is in the state that follows the word, as in StateDiscovery, and not Available.',
    remedy: 'Look at its condition Ready: it says what it waits for on its way to Available.',
    weight: 'waiting',
    actor: 'operator',
  },
  Tainted: {
    meaning: 'The server has the taint in brackets, and the claim does not tolerate it.',
    remedy: 'Remove the taint, or create the claim anew with a toleration.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl edit server {name}',
  },
} as const satisfies ReasonCatalogue;

type ReasonKey = keyof typeof rejectionReasons;
/** Three of the reasons carry a name: of a state, a rule or a taint. */
export type RejectionReason =
  | Exclude<ReasonKey, 'NotReady' | 'State' | 'Tainted'>
  | `State${string}`
  | `${'NotReady' | 'Tainted'}(${string})`;
