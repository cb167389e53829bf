import type { ReasonCatalogue } from '@metal/kube/controller/decide.ts';

/** Why an update failed. */
export const updateFailureReasons = {
  SettingsValidationFailed: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The attribute registry or the BMC does not accept a value. Nothing was changed.',
    remedy: 'Correct the settings that the message names.',
    command: 'kubectl get biossettings,bmcsettings',
  },
  SettingsDuplicateKeysFound: {
    weight: 'failed',
    actor: 'person',
    meaning: 'Two steps have the same name or the same attribute. Nothing was changed.',
    remedy: 'Give each step its own name, and each attribute one step.',
    command: 'kubectl get biossettings',
  },
  SettingsRejected: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC rejected the settings. The machine is as before.',
    remedy: 'Correct the settings, or annotate operation=retry.',
    command: 'kubectl get biossettings,bmcsettings',
  },
  SettingsNotSent: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The maintenance began, and the BMC did not take the settings within the time limit.',
    remedy: 'See the message for what was waited for; then annotate operation=retry.',
    command: 'kubectl get biossettings,bmcsettings',
  },
  ImageRefused: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The image is not the expected one, or cannot be used. Nothing was sent.',
    remedy: 'Correct spec.image.',
    command: 'kubectl get biosversions,bmcversions,firmwareversions',
  },
  ComponentNotFound: {
    weight: 'failed',
    actor: 'person',
    meaning: 'No updateable component of the machine matches. Nothing was sent.',
    remedy: 'Correct spec.component; the ServerInventory lists the components.',
    command: 'kubectl get serverinventories',
  },
  UpdateNotSupported: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC offers no way to install an image.',
    remedy: 'Update it with the tool of the vendor.',
    command: 'kubectl get bmcs',
  },
  UpgradeIssueFailed: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC rejected the update. The installed version is as before.',
    remedy: 'See the message; then annotate operation=retry.',
    command: 'kubectl get biosversions,bmcversions,firmwareversions',
  },
  UpgradeTaskFailed: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC began to install the image and failed.',
    remedy: 'See the message and the log of the BMC; then annotate operation=retry.',
    command: 'kubectl get biosversions,bmcversions,firmwareversions',
  },
  TaskOverdue: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC still installs the image after the time limit. The maintenance is kept.',
    remedy: 'Leave the machine on. Look at the task of the BMC; then annotate operation=retry.',
    command: 'kubectl get biosversions,bmcversions,firmwareversions',
  },
  BMCSilent: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC does not answer since the change was sent. The maintenance is kept.',
    remedy: 'Look at the machine. When the BMC answers again, annotate operation=retry.',
    command: 'kubectl get bmcs',
  },
  VerificationFailed: {
    weight: 'failed',
    actor: 'person',
    meaning: 'The BMC accepted the change, but does not report it within the time limit.',
    remedy: 'Compare status.plan with the BMC; then annotate operation=retry.',
    command: 'kubectl get biossettings,biosversions,bmcsettings,bmcversions,firmwareversions',
  },
} as const satisfies ReasonCatalogue;
