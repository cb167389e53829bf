import { failed, type StepResult } from '../../provisioner/step-result.ts';
import type { IronicNode } from '../node/ironic-node.ts';

/** A failure with the text of Ironic, or else with the state. */
export const failedOf = ({ last_error: text, provision_state: state }: IronicNode): StepResult =>
  failed(text === '' ? `Ironic gives no reason for the state "${state}" of the node` : text);

/** Ironic was told to end the operation. */
export const isAborted = ({ last_error: text }: IronicNode): boolean => /abort/i.test(text);
