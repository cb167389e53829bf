/** Annotations, labels, finalizers and names that users and other programs read or write. They do not change. */

/** Annotation by which users and programs request an operation; see `operations`. */
export const operationAnnotation = 'metal.ironcore.dev/operation';

/** Values of the operation annotation. */
export const operations = {
  /** The controllers ignore the object until the annotation is removed. */
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
  /** On an unclaimed Server: discovery runs again. An addition to v0.7.0. */
  rediscover: 'rediscover',
  /** On an unclaimed Server: a claim that names it takes its machine over as it is. An addition to v0.7.0. */
  adopt: 'adopt',
  /** On a Server: it leaves the fleet when its claim is gone. An addition to v0.7.0. */
  decommission: 'decommission',
  /** On a Server: the same, and its claim loses it after the grace period of evictions. An addition to v0.7.0. */
  forceDecommission: 'force-decommission',
  /** On a Server: cancels a decommission, or brings a decommissioned server back. An addition to v0.7.0. */
  recommission: 'recommission',
  /** On a ServerClaim: its server boots the current image of the spec. An addition to v0.7.0. */
  reprovision: 'reprovision',
} as const;
export type Operation = (typeof operations)[keyof typeof operations];

/** Operations that pause the controllers for the object itself. Deletion is never paused. */
export const ignoringOperations: readonly Operation[] = [
  operations.ignore,
  operations.ignoreChildAndSelf,
  operations.ignorePropagated,
];

/** On a Server: the machine operation in progress. */
export const operationUnderWayAnnotation = 'metal.ironcore.dev/operation-under-way';
/** On a ServerClaim and its ServerBootConfiguration: time of the last reprovision request. */
export const reprovisionAnnotation = 'metal.ironcore.dev/reprovision-requested';
/** On the ServerBootConfiguration of a claim: its boot policy, if it is not the default. */
export const bootPolicyAnnotation = 'metal.ironcore.dev/boot-policy';
/** Boot policy: the machine boots from the network at each start, with its ignition. */
export const networkAlways = 'networkAlways';
/** On a Server that was found running: `true` allows discovery to power it off. */
export const allowInterruptionAnnotation = 'metal.ironcore.dev/allow-interruption';
/** On a Server: UID of the claim that took its machine over as it was. Without a ServerInventory it was never discovered. */
export const adoptedAnnotation = 'metal.ironcore.dev/adopted';
/** On a Server: it is parked. Presence alone decides. */
export const parkedAnnotation = 'metal.ironcore.dev/parked';
/**
 * On a Server: it is to leave the fleet. The value is the operation that asked for it, and after a space the RFC 3339 time of
 * its acceptance. Stays on a decommissioned server.
 */
export const decommissionAnnotation = 'metal.ironcore.dev/decommission';
/** On a Server, and on a BMC without any other server: RFC 3339 time of the end of the decommission. Presence alone decides. */
export const decommissionedAnnotation = 'metal.ironcore.dev/decommissioned';
/** On a Server: with `true`, its BMC is reset to factory settings at the end of a decommission. */
export const resetBmcAnnotation = 'metal.ironcore.dev/decommission-reset-bmc';
/**
 * On a BMC, or on a Server with an inline BMC: the BMC was reset to factory settings, or may have been. The value is the
 * `metadata.uid` and the `metadata.resourceVersion` of the BMCSecret that no login is tried with any more.
 */
export const unusableCredentialsAnnotation = 'metal.ironcore.dev/unusable-credentials';
/**
 * With --bmc-tls=pin, on a BMC, on a Server with an inline BMC, and on an Endpoint whose default credentials were tried: SHA-256
 * fingerprint of the certificate that the BMC showed first. It survives a restore without status, and manifests do not have it.
 */
export const trustedCertificateAnnotation = 'metal.ironcore.dev/trusted-certificate';
/** On a Server whose mainboard was replaced: the system UUID that its BMC reports now, confirmed by a person. */
export const acceptSystemUuidAnnotation = 'metal.ironcore.dev/accept-system-uuid';
/** On a Server: name of the BMC object that is to take the place of spec.bmcRef, confirmed by a person. */
export const acceptBmcAnnotation = 'metal.ironcore.dev/accept-bmc';
/**
 * On a BMC: its new Servers get a taint of this key (NoBind), so that no claim is faster, and operation=ignore, so that nothing is done
 * with their machines until whoever set this annotation removes the operation.
 */
export const holdServersAnnotation = 'metal.ironcore.dev/hold-new-servers';
/** On a ServerBootConfiguration: its purpose. */
export const typeAnnotation = 'metal.ironcore.dev/type';
/** Value of the type annotation for the boot configuration of a discovery. */
export const internalBootType = 'Internal';
/** On a ServerBootConfiguration: the operator chose the image. */
export const defaultOsImageAnnotation = 'metal.ironcore.dev/is-default-os-image';
/** On a ServerBootConfiguration of a discovery: RFC 3339 time after which its boot token is rejected. */
export const bootTokenExpiresAnnotation = 'metal.ironcore.dev/boot-token-expires';
/** On a ServerBootConfiguration of a discovery: number of the attempt, from 1. */
export const discoveryAttemptAnnotation = 'metal.ironcore.dev/discovery-attempt';
/** Condition of a ServerBootConfiguration: the next step of its boot is overdue. */
export const bootOverdue = 'BootOverdue';
/** Reasons of that condition that concern the boot method and not the image: another boot method may help. */
export const firmwareOverdue: readonly string[] = ['ScriptOverdue', 'KernelOverdue', 'InitrdOverdue', 'UkiOverdue'];
/** On a ServerBootConfiguration of a cleanup: number of the attempt, from 1. */
export const cleanupAttemptAnnotation = 'metal.ironcore.dev/cleanup-attempt';
/** On a ServerBootConfiguration of a cleanup: `status.cleanup.neededSince` of its server at preparation. */
export const cleanupNeedAnnotation = 'metal.ironcore.dev/cleanup-needed-since';
/** On a ServerBootConfiguration of a cleanup: erasure mode of the order in its ignition. */
export const cleanupModeAnnotation = 'metal.ironcore.dev/cleanup-mode';
/** On a ServerBootConfiguration of a cleanup: time of preparation, RFC 3339. */
export const cleanupPreparedAnnotation = 'metal.ironcore.dev/cleanup-prepared';
/**
 * On a ServerBootConfiguration of a cleanup: time at which the BMC accepted the reset of the BIOS, RFC 3339, and after a
 * space the Redfish task, if any.
 */
export const cleanupBiosResetAnnotation = 'metal.ironcore.dev/cleanup-bios-reset';
/** On a ServerBootConfiguration of a deployment: UID of the ServerBootConfiguration with the disk image. */
export const deploymentAnnotation = 'metal.ironcore.dev/deployment';
/** On a ServerBootConfiguration of a deployment: time of preparation, RFC 3339. */
export const deploymentPreparedAnnotation = 'metal.ironcore.dev/deployment-prepared';
/**
 * On a Server in Cleanup, with sharding: the leader has admitted it. The value is `status.cleanup.neededSince` and after a
 * space the number of the attempt.
 */
export const cleanupAdmittedAnnotation = 'metal.ironcore.dev/cleanup-admitted';
/** On a Server in Cleanup, or in Error after one: the waiver, with the person and the reason. */
export const waiveCleanupAnnotation = 'metal.ironcore.dev/waive-cleanup';
/**
 * On a BMC: RFC 3339 time at which the Server of this system was deleted while it needed a cleanup. The next Server of the
 * system is cleaned up instead. A machine with a derived UUID is also marked under its alternative one. Undefined for an
 * invalid UUID.
 */
export function uncleanSystemAnnotation(systemUUID: string): string | undefined {
  const name = systemUUID.toLowerCase();
  return /^[0-9a-f-]{36}$/.test(name) ? `unclean.metal.ironcore.dev/${name}` : undefined;
}
/**
 * On a Server that a claim has used: RFC 3339 time. A Server whose status was lost, as after a restore from a backup, is
 * cleaned up before it is offered. Removed when the cleanup is over.
 */
export const uncleanServerAnnotation = 'metal.ironcore.dev/unclean-since';
/** On a Server whose machine reports no UUID: the source of the UUID in the spec. */
export const identityDerivedAnnotation = 'metal.ironcore.dev/identity-derived-from';
/**
 * On a Server whose UUID is derived from a serial number: the UUID that is derived when another number of systems of the BMC
 * has the same serial number. The machine may get its next Server under it.
 */
export const alternativeUuidAnnotation = 'metal.ironcore.dev/alternative-uuid';
/** On a Server: keys of the labels copied from its BMC, separated by commas. */
export const bmcLabelsAnnotation = 'metal.ironcore.dev/labels-from-bmc';
/**
 * On a Server, followed by the name of a readiness rule: the rule with the UID in the value has been satisfied once.
 * v0.7.0 wrote `true`; it identified rules by name only.
 */
export const bootstrapCompletedAnnotationPrefix = 'readiness.metal.ironcore.dev/bootstrap-completed-';
/** On a Server: the taints set by readiness rules, as JSON. */
export const readinessTaintsAnnotation = 'readiness.metal.ironcore.dev/taints';
/** On a Server, annotation or label, followed by a key: metadata of the running machine under that key. */
export const metadataPrefix = 'metadata.metal.ironcore.dev/';
/**
 * On a Server: the client addresses that its metadata is served to, separated by commas, instead of those in the probe
 * report. For machines whose operating system has other addresses than the discovery system.
 */
export const metadataAddressesAnnotation = 'metal.ironcore.dev/metadata-addresses';
/**
 * On an object of a set: why it has to wait for its turn. Removed by the set; a person may remove it to begin at once. Written by the
 * set, and by the object's controller before a correction.
 */
export const rolloutWaitAnnotation = 'metal.ironcore.dev/rollout-wait';
/** On an object of a set: RFC 3339 time at which the rollout let it begin with its present spec. */
export const rolloutStartedAnnotation = 'metal.ironcore.dev/rollout-started';
/** On a ServerMaintenance: the kind of the update that asks for it. */
export const updateLabel = 'metal.ironcore.dev/update';
export const maintenanceReasonAnnotation = 'metal.ironcore.dev/maintenance-reason';
/** Source of the Reason column of ServerMaintenance. */
export const maintenanceColumnReasonAnnotation = 'metal.ironcore.dev/reason';

export const locationLabel = 'metadata.metal.ironcore.dev/location';
export const rackLabel = 'metadata.metal.ironcore.dev/rack';
export const shelfLabel = 'metadata.metal.ironcore.dev/shelf';
export const heightLabel = 'metadata.metal.ironcore.dev/height';
export const maintenanceNeededLabel = 'metal.ironcore.dev/maintenance-needed';
export const maintenanceApprovedLabel = 'metal.ironcore.dev/maintenance-approved';
export const maintenanceRequestedLabel = 'metal.ironcore.dev/maintenance-requested';

export const serverFinalizer = 'metal.ironcore.dev/server';
export const maintenanceFinalizer = 'metal.ironcore.dev/servermaintenance';
export const claimFinalizer = 'metal.ironcore.dev/serverclaim';
export const bmcFinalizer = 'metal.ironcore.dev/bmc';
export const endpointFinalizer = 'metal.ironcore.dev/endpoint';
export const bmcUserFinalizer = 'metal.ironcore.dev/bmcuser';
export const biosSettingsFinalizer = 'metal.ironcore.dev/biossettings';
export const biosVersionFinalizer = 'metal.ironcore.dev/biosversion';
export const bmcSettingsFinalizer = 'metal.ironcore.dev/bmcsettings';
export const bmcVersionFinalizer = 'metal.ironcore.dev/bmcversion';
export const firmwareVersionFinalizer = 'metal.ironcore.dev/firmwareversion';
export const biosSettingsSetFinalizer = 'metal.ironcore.dev/biossettingsset';
export const biosVersionSetFinalizer = 'metal.ironcore.dev/biosversionset';
export const bmcSettingsSetFinalizer = 'metal.ironcore.dev/bmcsettingsset';
export const bmcVersionSetFinalizer = 'metal.ironcore.dev/bmcversionset';
export const firmwareVersionSetFinalizer = 'metal.ironcore.dev/firmwareversionset';
export const readinessRuleFinalizer = 'readiness.metal.ironcore.dev/cleanup-taints';

/** Type of Secrets with user data for the running machine. */
export const userDataSecretType = 'metal.ironcore.dev/user-data';
/** Header that a machine must send with requests for its metadata. */
export const metadataFlavorHeader = { name: 'Metadata-Flavor', value: 'IronCore Metal' } as const;
/** Keys of an ignition Secret. */
export const ignitionSecretKeys = { format: 'format', ignition: 'ignition' } as const;
/** Value of the format key: the ignition text is a Fedora CoreOS configuration. */
export const ignitionFormat = 'fcos';
/** Keys of the Secret with the SSH access to a machine in discovery. */
export const sshSecretKeys = { privateKey: 'pem', publicKey: 'pub', password: 'password' } as const;
/** Context of the event subscriptions that the operator creates on BMCs. */
export const subscriptionContext = 'metal-operator';
export const leaderElectionLeaseName = 'f26702e4.ironcore.dev';
/** Secret in the manager namespace with the key of boot tokens, and its data key. */
export const bootKeySecret = { name: 'metal-operator-boot-key', key: 'key' } as const;
/** Secret in the manager namespace with the private key for certificates of cleanup (PKCS #8, PEM), and its data key. */
export const certificateKeySecret = { name: 'metal-operator-certificate-key', key: 'key' } as const;
/** ConfigMap in the manager namespace with the public key of every signing key ever used, as `<kid>.pem`. */
export const certificateKeysConfigMap = 'metal-operator-certificate-keys';
/** Field managers of v0.7.0: that of its binary, for updates, and that of server-side apply. */
export const retiredFieldManagers = ['manager', 'metal.ironcore.dev/controller-manager'] as const;
/** Field manager of v0.7.0 for server-side apply. DNS records keep it, so that they are taken over without conflicts. */
export const legacyFieldManager = 'metal.ironcore.dev/controller-manager';
