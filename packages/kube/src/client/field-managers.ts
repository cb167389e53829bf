/**
 * Field managers of all writes. Every controller and every service has one of its own, so that
 * `kubectl get --show-managed-fields` names the writer of a field.
 */
export const defaultFieldManager = 'metal-operator';

/** The field manager of a controller or service, for example `metal-operator/boot`. */
export const fieldManagerOf = (writer: string): string => `${defaultFieldManager}/${writer}`;
