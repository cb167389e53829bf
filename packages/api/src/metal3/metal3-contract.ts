/** Annotations of Metal3 that people and programs set. They do not change. */
export const pausedAnnotation = 'baremetalhost.metal3.io/paused';
export const detachedAnnotation = 'baremetalhost.metal3.io/detached';
export const statusAnnotation = 'baremetalhost.metal3.io/status';
/** Alone, or followed by a slash and the name of the client. */
export const rebootAnnotation = 'reboot.metal3.io';
export const inspectAnnotation = 'inspect.metal3.io';
export const hardwareDetailsAnnotation = 'inspect.metal3.io/hardwaredetails';

/** Keeps a host until its node is removed. */
export const hostFinalizer = 'baremetalhost.metal3.io';
/** On Secrets that a host needs until it is gone. */
export const secretFinalizer = 'baremetalhost.metal3.io/secret';
export const hardwareDataFinalizer = 'baremetalhost.metal3.io/hardwareData';
/** On the PreprovisioningImage of a host. */
export const imageFinalizer = 'baremetalhost.metal3.io/preprovisioningImage';
/** Of the controller that builds PreprovisioningImages. */
export const imageBuildFinalizer = 'preprovisioningimage.metal3.io';
/** Keeps a BMCEventSubscription until the BMC has it no more. */
export const eventSubscriptionFinalizer = 'bmceventsubscription.metal3.io';
/** Keeps a DataImage until it is out of the virtual drive. */
export const dataImageFinalizer = 'dataimage.metal3.io';

/** On Secrets that a host has used: only these are watched. */
export const environmentLabel = 'environment.metal3.io';
export const environmentLabelValue = 'baremetal';

/** Back end of one host, native or ironic, instead of --metal3-provisioner. Changed only while the host is detached. */
export const provisionerAnnotation = 'metal.ironcore.dev/metal3-provisioner';
/** On a host: its status is from another cluster, and no back end of this one has had it yet. */
export const movedHostAnnotation = 'metal.ironcore.dev/metal3-moved';
/** Taint of the Servers of hosts: no claim of anybody else is bound to them. */
export const hostTaint = 'metal3.io/host';
/**
 * On a Server, and on the ServerClaim of a host: the host, as namespace/name, a space, and metadata.uid. The claim has no owner reference:
 * a deletion of the host in the foreground would release it before the host is deprovisioned.
 */
export const hostOfServerAnnotation = 'metal3.io/host';
/** On a BMC and its BMCSecret: a host created them, and they go with the last host. */
export const createdForHostAnnotation = 'metal3.io/created-for-host';
/** On a Server: its host is detached, for which it has operation=ignore. adopt: in place of that operation, which follows again. */
export const detachedServerAnnotation = 'metal3.io/detached';
/** On a Server: its machine was to be taken over for the host as it is. Without a claim it is not taken over again by itself. */
export const adoptedForHostAnnotation = 'metal3.io/adopted-for-host';
/** On a Server: its erasure policy before the host's; empty for none. */
export const formerCleanupAnnotation = 'metal3.io/former-cleanup-disks';
/** On an object that changes settings or firmware for a host: the time of its failure that the host has tried again. */
export const retriedFailureAnnotation = 'metal3.io/retried-failure';
/** The controller in the events of hosts. */
export const hostEventController = 'metal3.io/baremetal-controller';
/** Lease of the leader. The baremetal-operator of Metal3 has the same. */
export const metal3LeaseName = 'baremetal-operator';
