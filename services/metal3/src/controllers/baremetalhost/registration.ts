import { isDeepStrictEqual } from 'node:util';
import type { BareMetalHostStatus } from '@metal/api/metal3/bare-metal-host-status.ts';
import { movedHostAnnotation } from '@metal/api/metal3/metal3-contract.ts';
import { profileHints } from '../../image/root-device.ts';
import { HostSecretMissing } from '../../errors.ts';
import type { RegistrationData } from '../../provisioner/provisioner.ts';
import { failed, type StepResult } from '../../provisioner/step-result.ts';
import { asFailure } from './deployment-actions.ts';
import { wantedHints } from './facts.ts';
import { withoutSettings, withRegistrationEnd, withRegistrationStart } from './status-changes.ts';
import { fail, type HostWork, record, type UsedCredentials, withoutError } from './work.ts';

/** Neither a registration nor a request to the BMC is possible. */
export async function refuseCredentials(work: HostWork): Promise<void> {
  const { credentials } = work;
  if (!('problem' in credentials)) return;
  const { problem: message, retryMs: delayMs } = credentials;
  const isKnown = work.pass.status.errorType === 'registration error' && work.pass.status.errorMessage === message;
  if (isKnown) work.outcomes.refuseCredentials = { kind: 'failed', message, delayMs };
  else fail(work, 'refuseCredentials', { errorType: 'registration error', message, delayMs });
}

/** Registers the host, and stores what that changes before anything else happens. */
export async function register(work: HostWork): Promise<void> {
  const { pass, outcomes, credentials } = work;
  if ('problem' in credentials) return;
  const before = pass.status;
  const hasNewCredentials = !isUsed(before.triedCredentials, credentials);
  const begun = beginAgain(work, credentials);
  pass.status = { ...begun, triedCredentials: asStored(credentials) };
  const { result, id } = await work.provisioner
    .register(registrationData(work, hasNewCredentials))
    .catch((error: unknown) => ({ result: asRegistrationFailure(error), id: undefined }));
  pass.node = { hasPowerFailure: work.provisioner.hasPowerFailure(), health: work.provisioner.health() };
  if (id !== undefined && work.host.metadata.annotations?.[movedHostAnnotation] !== undefined)
    await work.removeAnnotations([movedHostAnnotation]);
  if (id !== undefined && id !== pass.status.provisioning.ID) pass.status = withNode(pass.status, id);
  record(work, 'register', result, 'registration error');
  if (result.kind !== 'done' || !adoptProfile(work)) return;
  if (!work.facts.isDeleting) await work.ensureFirmwareObjects();
  const isRegistrationError = before.errorType === 'registration error';
  if (hasNewCredentials || isRegistrationError || ['', 'discovered'].includes(before.operationalStatus))
    pass.status = withoutError(pass.status);
  pass.status = withRegistrationEnd({ ...pass.status, goodCredentials: asStored(credentials) }, work.at);
  if (!isDeepStrictEqual(pass.status, before)) outcomes.register = { kind: 'changed' };
}

/** Of a Secret with network data for the ramdisk that does not exist, too. */
const asRegistrationFailure = (error: unknown): StepResult =>
  error instanceof HostSecretMissing ? failed(error.message) : asFailure(error);

/** The time of a registration is measured again after a failure, and with other credentials. */
function beginAgain({ pass: { status }, at }: HostWork, credentials: UsedCredentials): BareMetalHostStatus {
  const isNeeded = status.errorType === 'registration error' || !isUsed(status.goodCredentials, credentials);
  return isNeeded ? withRegistrationStart(status, at) : status;
}

function registrationData({ host, facts, pass, ...work }: HostWork, hasNewCredentials: boolean): RegistrationData {
  const { spec } = host;
  const { status } = pass;
  const { provisioning } = status;
  const isDeploying = facts.state === 'provisioning' || facts.state === 'externally provisioned';
  return {
    hasNewCredentials,
    restartsAfterFailure: status.errorType === 'registration error',
    state: facts.state,
    operationalStatus: status.operationalStatus,
    bootMode: provisioning.bootMode ?? spec.bootMode ?? 'UEFI',
    cleaning: spec.automatedCleaningMode,
    architecture: spec.architecture ?? status.hardware?.cpu?.arch ?? work.defaultArchitecture,
    inspection: facts.inspection === 'disabled' ? 'disabled' : spec.inspectionMode === 'fast' ? 'fast' : 'agent',
    disablePowerOff: spec.disablePowerOff === true,
    image: (provisioning.image?.url ?? '') === '' && isDeploying ? spec.image : provisioning.image,
    hasCustomDeploy: spec.customDeploy !== undefined,
    hardware: work.hardware,
  };
}

/** A new node has none of the settings of the former one. */
function withNode(status: BareMetalHostStatus, ID: string): BareMetalHostStatus {
  const { provisioning } = status;
  const kept = provisioning.state === 'preparing' ? withoutSettings(provisioning) : provisioning;
  return { ...status, provisioning: { ...kept, ID } };
}

/** False for an unknown profile, which is a registration error. */
function adoptProfile(work: HostWork): boolean {
  const { host, pass } = work;
  const { spec } = host;
  const byAddress = spec.bmc?.address.startsWith('libvirt') === true ? 'libvirt' : 'unknown';
  const profile = given(pass.status.hardwareProfile) ?? given(spec.hardwareProfile) ?? byAddress;
  if (!Object.hasOwn(profileHints, profile)) {
    const message = `spec.hardwareProfile: unknown profile "${profile}": remove it, and set spec.rootDeviceHints`;
    fail(work, 'register', { errorType: 'registration error', message });
    return false;
  }
  const { rootDeviceHints: _, ...provisioning } = pass.status.provisioning;
  const hints = wantedHints(spec, profile);
  pass.status = {
    ...pass.status,
    hardwareProfile: profile,
    provisioning: { ...provisioning, ...(hints === undefined ? {} : { rootDeviceHints: hints }) },
  };
  return true;
}

const given = (text: string | undefined): string | undefined => (text === '' ? undefined : text);

const asStored = ({ name, namespace, version }: UsedCredentials) => ({
  credentials: { name, namespace },
  credentialsVersion: version,
});

const isUsed = (stored: BareMetalHostStatus['triedCredentials'], credentials: UsedCredentials): boolean =>
  isDeepStrictEqual(stored, asStored(credentials));
