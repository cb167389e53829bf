/** Words that people and other programs write on our objects, or read there. They do not change. */

/** Annotation by which people and programs ask for something; see `operations`. */
export const operationAnnotation = 'metal.ironcore.dev/operation';

/** Values of the operation annotation. */
export const operations = {
  /** The object is left alone until the annotation goes. */
  ignore: 'ignore',
  ignoreChild: 'ignore-child',
  ignoreChildAndSelf: 'ignore-child-and-self',
  ignorePropagated: 'ignore-propagated',
  retry: 'retry',
  retryChild: 'retry-child',
  retryChildAndSelf: 'retry-child-and-self',
  retryPropagated: 'retry-propagated',
  allowInProgressUpdate: 'allow-in-progress-update',
  allowInProgressDelete: 'allow-in-progress-delete',
  park: 'park',
  unpark: 'unpark',
  gracefulRestartServer: 'graceful-restart-server',
  hardRestartServer: 'hard-restart-server',
  powerCycleServer: 'power-cycle-server',
  forceOffServer: 'force-off-server',
  forceOnServer: 'force-on-server',
  gracefulRestartBmc: 'graceful-restart-bmc',
  forceSshResetBmc: 'force-ssh-reset-bmc',
  rotateCredentials: 'rotate-credentials',
  /** On a Server that nobody holds: discovery runs anew. An addition to v0.7.0. */
  rediscover: 'rediscover',
  /** On a ServerClaim: its server boots the image as it is written now. An addition to v0.7.0. */
  reprovision: 'reprovision',
} as const;
export type Operation = (typeof operations)[keyof typeof operations];

/** Operations that stop the controllers from touching the object itself. Deletion is never stopped. */
export const ignoringOperations: readonly Operation[] = [
  operations.ignore,
  operations.ignoreChildAndSelf,
  operations.ignorePropagated,
];

/** On a Server: the machine operation that has been taken up and whose end is not known yet. */
export const operationUnderWayAnnotation = 'metal.ironcore.dev/operation-under-way';
/** On a ServerClaim and its ServerBootConfiguration: when a person last asked for the image as it is written. */
export const reprovisionAnnotation = 'metal.ironcore.dev/reprovision-requested';
/** On the ServerBootConfiguration of a claim: its boot policy, when it is not the default. */
export const bootPolicyAnnotation = 'metal.ironcore.dev/boot-policy';
/** Boot policy under which a machine boots from the network each time, with its ignition. */
export const networkAlways = 'networkAlways';
/** On a Server that was found running: `true` lets discovery power it off. */
export const allowInterruptionAnnotation = 'metal.ironcore.dev/allow-interruption';
/** On a Server: it is parked. Presence alone decides. */
export const parkedAnnotation = 'metal.ironcore.dev/parked';
/** On a ServerBootConfiguration: whose it is. */
export const typeAnnotation = 'metal.ironcore.dev/type';
/** Value of the type annotation for the boot configuration of a discovery. */
export const internalBootType = 'Internal';
/** On a ServerBootConfiguration: the image is the operator's own choice. */
export const defaultOsImageAnnotation = 'metal.ironcore.dev/is-default-os-image';
/** On a ServerBootConfiguration of a discovery: RFC 3339 time after which its boot token is refused. */
export const bootTokenExpiresAnnotation = 'metal.ironcore.dev/boot-token-expires';
/** On a ServerBootConfiguration of a discovery: which attempt it belongs to, counted from 1. */
export const discoveryAttemptAnnotation = 'metal.ironcore.dev/discovery-attempt';
/** Condition of a ServerBootConfiguration: the next step of its boot does not come. */
export const bootOverdue = 'BootOverdue';
/** Reasons of that condition that are about the way into the image, not about the image: another way may help. */
export const firmwareOverdue: readonly string[] = ['ScriptOverdue', 'KernelOverdue', 'InitrdOverdue', 'UkiOverdue'];
/** On a ServerBootConfiguration of a cleanup: which attempt it belongs to, counted from 1. */
export const cleanupAttemptAnnotation = 'metal.ironcore.dev/cleanup-attempt';
/** On a ServerBootConfiguration of a cleanup: `status.cleanup.neededSince` of its server when it was prepared. */
export const cleanupNeedAnnotation = 'metal.ironcore.dev/cleanup-needed-since';
/** On a ServerBootConfiguration of a cleanup: what the order in its ignition asks for. */
export const cleanupModeAnnotation = 'metal.ironcore.dev/cleanup-mode';
/** On a ServerBootConfiguration of a cleanup: when it was prepared, RFC 3339. */
export const cleanupPreparedAnnotation = 'metal.ironcore.dev/cleanup-prepared';
/**
 * On a ServerBootConfiguration of a cleanup: when the BMC took the order to reset the BIOS, RFC 3339, and after a space the
 * task that it made of it, if any.
 */
export const cleanupBiosResetAnnotation = 'metal.ironcore.dev/cleanup-bios-reset';
/**
 * On a Server in Cleanup, where replicas share the servers: that the leading one let it in, as `status.cleanup.neededSince`
 * and after a space the number of the attempt.
 */
export const cleanupAdmittedAnnotation = 'metal.ironcore.dev/cleanup-admitted';
/** On a Server in Cleanup, or in Error after one: who takes it upon them that its disks are not erased, and why. */
export const waiveCleanupAnnotation = 'metal.ironcore.dev/waive-cleanup';
/**
 * On a BMC: the Server of this system was deleted while its disks could hold what a claim had left, RFC 3339 time of that. The
 * next Server of the system is cleaned up as that one would have been. Undefined for a UUID that is none.
 */
export function uncleanSystemAnnotation(systemUUID: string): string | undefined {
  const name = systemUUID.toLowerCase();
  return /^[0-9a-f-]{36}$/.test(name) ? `unclean.metal.ironcore.dev/${name}` : undefined;
}
/** On a Server: its machine reports no UUID; of what the one in the spec was made. */
export const identityDerivedAnnotation = 'metal.ironcore.dev/identity-derived-from';
/** On a Server: keys of the labels it has from its BMC, with commas between. */
export const bmcLabelsAnnotation = 'metal.ironcore.dev/labels-from-bmc';
/**
 * On a Server, followed by the name of a readiness rule: the rule whose UID is the value has been satisfied once.
 * `true` is what v0.7.0 wrote, which knew rules by name only.
 */
export const bootstrapCompletedAnnotationPrefix = 'readiness.metal.ironcore.dev/bootstrap-completed-';
/** On a Server: the taints that readiness rules have put there, as JSON. */
export const readinessTaintsAnnotation = 'readiness.metal.ironcore.dev/taints';
/** On a Server, annotation or label, followed by a key: shown to the running machine under that key. */
export const metadataPrefix = 'metadata.metal.ironcore.dev/';
/**
 * On a Server: the addresses its metadata is served to, separated by commas, instead of those that discovery saw. For
 * machines whose operating system has other addresses than the probe had.
 */
export const metadataAddressesAnnotation = 'metal.ironcore.dev/metadata-addresses';
export const maintenanceReasonAnnotation = 'metal.ironcore.dev/maintenance-reason';
/** The annotation that the Reason column of ServerMaintenance shows. */
export const maintenanceColumnReasonAnnotation = 'metal.ironcore.dev/reason';

export const locationLabel = 'metadata.metal.ironcore.dev/location';
export const rackLabel = 'metadata.metal.ironcore.dev/rack';
export const shelfLabel = 'metadata.metal.ironcore.dev/shelf';
export const heightLabel = 'metadata.metal.ironcore.dev/height';
export const maintenanceNeededLabel = 'metal.ironcore.dev/maintenance-needed';
export const maintenanceApprovedLabel = 'metal.ironcore.dev/maintenance-approved';
export const maintenanceRequestedLabel = 'metal.ironcore.dev/maintenance-requested';

export const serverFinalizer = 'metal.ironcore.dev/server';
export const claimFinalizer = 'metal.ironcore.dev/serverclaim';
export const bmcFinalizer = 'metal.ironcore.dev/bmc';
export const endpointFinalizer = 'metal.ironcore.dev/endpoint';
export const bmcUserFinalizer = 'metal.ironcore.dev/bmcuser';
export const readinessRuleFinalizer = 'readiness.metal.ironcore.dev/cleanup-taints';

/** Type of Secrets with user data for the running machine. */
export const userDataSecretType = 'metal.ironcore.dev/user-data';
/** Header that a machine must send with requests for its metadata. */
export const metadataFlavorHeader = { name: 'Metadata-Flavor', value: 'IronCore Metal' } as const;
/** Keys of an ignition Secret. */
export const ignitionSecretKeys = { format: 'format', ignition: 'ignition' } as const;
/** Value of the format key: the ignition text is a Fedora CoreOS configuration. */
export const ignitionFormat = 'fcos';
/** Keys of the Secret with the access to a machine in discovery. */
export const sshSecretKeys = { privateKey: 'pem', publicKey: 'pub', password: 'password' } as const;
/** Context by which BMC event subscriptions are recognised as ours. */
export const subscriptionContext = 'metal-operator';
export const leaderElectionLeaseName = 'f26702e4.ironcore.dev';
/** Secret in the manager namespace with the key of boot tokens, and its data key. */
export const bootKeySecret = { name: 'metal-operator-boot-key', key: 'key' } as const;
/** Secret in the manager namespace with the key that certificates are signed with (PKCS #8, PEM), and its data key. */
export const certificateKeySecret = { name: 'metal-operator-certificate-key', key: 'key' } as const;
/** ConfigMap in the manager namespace with the public half of every key that was ever used, as `<kid>.pem`. */
export const certificateKeysConfigMap = 'metal-operator-certificate-keys';
/** Field managers of v0.7.0: that of its binary, for updates, and that of server-side apply. */
export const retiredFieldManagers = ['manager', 'metal.ironcore.dev/controller-manager'] as const;
/** Field manager of v0.7.0 for server-side apply. DNS records keep it, so that they are taken over without conflicts. */
export const legacyFieldManager = 'metal.ironcore.dev/controller-manager';
