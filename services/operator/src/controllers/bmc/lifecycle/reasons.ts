import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';
import { healthReasonsOf } from '../../health-condition.ts';

const passesByItself = 'Nothing; it passes by itself.';
const goesOn = { remedy: passesByItself, weight: 'working', actor: 'operator' } as const;
const retriedRemedy =
  'Nothing, if it passes; the BMC is tried again with growing pauses. Otherwise look at the BMC itself.';

/** What keeps a BMC from being tried at all. */
const blockerReasons = {
  BMCDecommissioned: {
    meaning: 'All servers of the BMC are decommissioned; nothing is sent to it.',
    remedy: 'Nothing; or annotate one of its servers with metal.ironcore.dev/operation=recommission.',
    weight: 'waiting',
    actor: 'person',
    pointsTo: 'Server',
  },
  CredentialsUnusable: {
    meaning:
      'The BMC was reset to factory settings when its server was decommissioned; the BMCSecret is from before. No login is tried with it.',
    remedy: 'Write the present account to the BMCSecret; any change of it has the login tried.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcsecret {spec.bmcSecretRef.name}',
  },
  SpecMissing: {
    meaning: 'The BMC object has no spec.',
    remedy: 'Give it protocol, bmcSecretRef and access.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  AddressMissing: {
    meaning: 'No IP address of the BMC is known.',
    remedy: 'Set spec.access.ip, or the IP of the Endpoint.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  AddressInvalid: {
    meaning: 'Address or port of the BMC cannot be connected to.',
    remedy: 'Correct them; see the message.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  CertificateInvalid: {
    meaning: 'The CA bundle of the BMC cannot be read.',
    remedy: 'Correct protocol.tls.caBundle.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  EndpointNotFound: {
    meaning: 'The Endpoint of spec.endpointRef does not exist.',
    remedy: 'Create it, or replace spec.endpointRef by spec.access.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Endpoint',
    command: 'kubectl edit bmc {name}',
  },
  UnsupportedProtocol: {
    meaning: 'The protocol of the BMC is not one that is spoken here.',
    remedy: 'Set spec.protocol.name to Redfish.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  BMCSecretNotFound: {
    meaning: 'The BMCSecret with the credentials does not exist.',
    remedy: 'Create it with the keys username and password.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl create -f BMCSECRET.yaml',
  },
  BMCSecretIncomplete: {
    meaning: 'The BMCSecret lacks user name or password.',
    remedy: 'Add the missing key.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcsecret {spec.bmcSecretRef.name}',
  },
  NoBMC: {
    meaning: 'Neither a BMC object nor an inline BMC is named.',
    remedy: 'Set one of the two.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
} as const satisfies ReasonCatalogue;

/** How a conversation with a BMC fails. */
const failureReasons = {
  AuthenticationFailed: {
    meaning:
      'The BMC does not let the user log in with this password, or user name and password could not be had. They are not sent again, so that the account is not locked.',
    remedy:
      'Correct the BMCSecret; the BMC is tried again at once. If password or rights were put right at the BMC, annotate the BMCSecret (tried-again=<time>).',
    weight: 'failed',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcsecret {spec.bmcSecretRef.name}',
  },
  Forbidden: {
    meaning: 'The account exists, but may not do what is needed.',
    remedy: 'Give the account the role Administrator, or name another one in the BMCSecret.',
    weight: 'failed',
    actor: 'person',
    pointsTo: 'BMCSecret',
    command: 'kubectl edit bmcsecret {spec.bmcSecretRef.name}',
  },
  TlsUntrusted: {
    meaning: 'The certificate of the BMC is not trusted. Nothing was sent to it.',
    remedy:
      'Give its CA (--bmc-ca-file or protocol.tls.caBundle) or pin it (protocol.tls.fingerprint, or --bmc-tls=pin for all BMCs).',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  CertificateTrusted: {
    meaning:
      'The BMC was reached for the first time, and its certificate, of no known authority, is recorded in the annotation metal.ironcore.dev/trusted-certificate (--bmc-tls=pin). Any other is rejected from now on.',
    remedy: 'Nothing, or compare the fingerprint in the event with the BMC.',
    weight: 'working',
    actor: 'operator',
  },
  CertificateChanged: {
    meaning: 'The BMC shows another certificate than the recorded one. Nothing was sent to it.',
    remedy:
      'Find out whether the BMC has a new certificate or another device has its address. Then remove the annotation metal.ironcore.dev/trusted-certificate: the certificate that is shown next is recorded.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate bmc {name} metal.ironcore.dev/trusted-certificate-',
  },
  InternalServerError: {
    meaning: 'The BMC failed inside (HTTP 500), or an SSH reset could not be carried out; the message tells which.',
    remedy: 'If it stays, restart the BMC: annotate metal.ironcore.dev/operation=graceful-restart-bmc.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate bmc {name} metal.ironcore.dev/operation=graceful-restart-bmc',
  },
  ConnectionFailed: {
    meaning: 'The BMC answers that its service is not available (HTTP 503), or its address is not known.',
    remedy: 'If it stays, restart the BMC: annotate metal.ironcore.dev/operation=graceful-restart-bmc.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate bmc {name} metal.ironcore.dev/operation=graceful-restart-bmc',
  },
  Unreachable: {
    meaning: 'No connection to the BMC, or it broke.',
    remedy: 'Check cable, address, port and firewall.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  TimedOut: {
    meaning: 'The BMC did not answer in time.',
    remedy: 'Check its load and the network; raise --bmc-call-timeout if it is only slow.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  CircuitOpen: {
    meaning: 'The BMC failed several times in a row and is left alone for a while.',
    remedy: passesByItself,
    weight: 'waiting',
    actor: 'hardware',
  },
  BadAnswer: {
    meaning: 'What the BMC answers is no Redfish.',
    remedy: 'Check that port and address are those of a BMC.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  NotFound: {
    meaning: 'The BMC lacks a resource that every Redfish service has.',
    remedy: 'Check the firmware of the BMC.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  PowerMismatch: {
    meaning: 'The machine is in another power state than expected.',
    remedy: retriedRemedy,
    weight: 'waiting',
    actor: 'hardware',
  },
  IdentityMismatch: {
    meaning: 'Another machine answers than the one that is meant.',
    remedy: 'Find out which machine it is by the UUID in the message, and correct what names the wrong one.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  NotSupported: {
    meaning: 'The BMC does not offer what is needed.',
    remedy: 'Update the firmware of the BMC.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  Busy: { meaning: 'The BMC asks to come back later.', remedy: passesByItself, weight: 'waiting', actor: 'hardware' },
  HttpError: {
    meaning: 'The BMC answered with an HTTP error.',
    remedy: retriedRemedy,
    weight: 'waiting',
    actor: 'hardware',
  },
  HandedOver: { meaning: 'Another replica of the operator takes over the BMC.', ...goesOn },
  Closed: { meaning: 'The conversation was ended on our side.', ...goesOn },
} as const satisfies ReasonCatalogue;

/** Restarts of the BMC itself. */
const resetReasons = {
  UserRequested: {
    meaning: 'Somebody asked for a restart of the BMC by annotation; it is awaited.',
    remedy: 'Nothing; the condition Reset tells when it is over.',
    weight: 'working',
    actor: 'operator',
  },
  AutoResetting: {
    meaning: 'The BMC has failed for longer than --bmc-failure-reset-delay and is restarted.',
    remedy: 'Nothing; if it does not come back it is restarted again after a growing pause.',
    weight: 'working',
    actor: 'operator',
  },
  FallbackToSSH: { meaning: 'The BMC does not take a restart over Redfish; SSH is tried.', ...goesOn },
  ResetRecorded: { meaning: 'The restart is written down and is sent next.', ...goesOn },
  WaitingForReset: {
    meaning: 'The BMC was told to restart and has not answered since.',
    remedy: 'Nothing; if it never comes back, look at the BMC itself.',
    weight: 'waiting',
    actor: 'hardware',
  },
  ResetComplete: {
    meaning: 'The BMC answers again after a restart.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  ResetRefused: {
    meaning: 'The BMC refused the restart.',
    remedy: 'See the message; force-ssh-reset-bmc tries it over SSH.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl annotate bmc {name} metal.ironcore.dev/operation=force-ssh-reset-bmc',
  },
  HostKeyMismatch: {
    meaning: 'The SSH host key of the BMC is not the one that is known; no password was sent.',
    remedy: 'Find out why it changed, then set spec.ssh.hostKeyFingerprint.',
    weight: 'failed',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  ResetNotNeeded: {
    meaning: 'What called for a restart has passed.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  SSHHostKeyTrusted: {
    meaning: 'The BMC was reached over SSH for the first time, and its host key was trusted without a comparison.',
    remedy: 'Compare the fingerprint in the event with the BMC, and set spec.ssh.hostKeyFingerprint.',
    weight: 'waiting',
    actor: 'person',
    command: 'kubectl edit bmc {name}',
  },
  ResetAlreadyRunning: {
    meaning: 'Another restart was asked for while one is under way; it was dropped.',
    remedy: 'Ask again afterwards.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate bmc {name} metal.ironcore.dev/operation=graceful-restart-bmc',
  },
  UnsupportedOperation: {
    meaning: 'The operation annotation names something that a BMC does not do; it was removed.',
    remedy: 'Use graceful-restart-bmc or force-ssh-reset-bmc; operations of servers go on the Server.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl annotate bmc {name} metal.ironcore.dev/operation=OPERATION',
  },
} as const satisfies ReasonCatalogue;

/** What becomes of the systems behind the BMC. */
const systemReasons = {
  ResourcesUnreadable: {
    meaning:
      'The BMC answers, but cannot give some of its systems or managers. What is known of them is what was read last; the others go on. A system without UUID gets its Server only afterwards: an unreadable one may have its serial number.',
    remedy:
      'Look at the resource that the message names, and update the firmware of the BMC or restart it. It is read again at each look.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  AllResourcesRead: {
    meaning: 'All systems and managers could be read, after they once could not.',
    remedy: passesByItself,
    weight: 'ok',
    actor: 'operator',
  },
  AllSystemsKnown: {
    meaning: 'Every system behind the BMC has its Server.',
    remedy: 'Nothing.',
    weight: 'ok',
    actor: 'operator',
  },
  NoSystems: {
    meaning: 'The BMC answers and manages no systems: an enclosure, a switch, a power shelf. It gets no Servers.',
    remedy: 'Nothing. If it should have systems, update its firmware; they become Servers once it lists them.',
    weight: 'ok',
    actor: 'operator',
  },
  NoMachine: {
    meaning:
      'Systems of the BMC are no machines: they offer no reset, such as GPU baseboards, or their SystemType is DPU or OS. They get no Server.',
    remedy: 'Nothing. Delete a Server that an earlier version made of such a system.',
    weight: 'ok',
    actor: 'operator',
  },
  SystemWithoutUUID: {
    meaning: 'A system reports no UUID and nothing that one could be derived from.',
    remedy: 'Set UUID or serial number in its firmware.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  DuplicateSystemUUID: {
    meaning:
      'Two BMCs report a system with the same UUID. One Server at most is made for it: that of the older BMC object, if there is none yet.',
    remedy: 'Correct the UUID in the firmware, or delete the surplus BMC object.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  TooManySystems: {
    meaning:
      'The BMC reports more systems than --max-systems-per-bmc. No new Server is made for it; those that exist are managed on.',
    remedy: 'Find out whether the systems are real: a BMC can invent them. If they are, raise the option.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
  AcceptedServerNotFound: {
    meaning:
      'The annotation metal.ironcore.dev/accept-bmc of a Server names this BMC, which does not report the machine of that Server.',
    remedy:
      'Correct the annotation; if the mainboard was replaced as well, also set metal.ironcore.dev/accept-system-uuid.',
    weight: 'needsPerson',
    actor: 'person',
    pointsTo: 'Server',
    command: 'kubectl describe bmc {name}',
  },
  SystemIdentityChanged: {
    meaning: 'A system answers under another UUID than that of the Server in its place. No second Server is made.',
    remedy:
      'Wait if the BMC was just restarted. If the board was exchanged, annotate the Server with metal.ironcore.dev/accept-system-uuid and the UUID in the message.',
    weight: 'needsPerson',
    actor: 'person',
    command: 'kubectl describe bmc {name}',
  },
} as const satisfies ReasonCatalogue;

/** Every reason the BMC controller gives. */
export const bmcReasons = {
  ...blockerReasons,
  ...failureReasons,
  ...resetReasons,
  ...systemReasons,
  ...healthReasonsOf('bmc'),
  NotYetSeen: { meaning: 'The BMC is looked at for the first time, or again after a failure.', ...goesOn },
  PeriodicLook: {
    meaning: 'The BMC is looked at again, as every now and then.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  BMCRecommissioned: {
    meaning: 'A server of the BMC was brought back to the fleet, so the BMC is looked at again.',
    ...goesOn,
  },
  Connected: { meaning: 'The BMC answers.', remedy: 'Nothing.', weight: 'ok', actor: 'operator' },
  ManagerFound: {
    meaning: 'The UUID of the BMC is recorded in spec.bmcUUID.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  SystemFound: {
    meaning: 'A system behind the BMC gets its Server.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  SystemMovedOrLabelled: {
    meaning: 'Address of a system, or labels of the BMC, are brought to its Server.',
    remedy: 'Nothing.',
    weight: 'working',
    actor: 'operator',
  },
  ConfigurationChanged: {
    meaning: 'What kept the BMC in Error has changed; it is tried again.',
    ...goesOn,
  },
} as const satisfies ReasonCatalogue;

export type BmcReason = keyof typeof bmcReasons;
