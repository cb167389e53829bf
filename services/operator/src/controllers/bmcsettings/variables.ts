import { BMC } from '@metal/api/v1alpha1/bmc.ts';
import type { BMCSettings } from '@metal/api/v1alpha1/bmc-settings.ts';
import type { KubeClient } from '@metal/kube/client/client.ts';
import { undefinedIfAbsent } from '@metal/kube/errors.ts';
import { isResourceKey } from '@metal/redfish/resources/resource-settings.ts';
import { configMapText, secretText } from '../../update-engine/referenced-objects.ts';
import type { Explanation } from '../ready-condition.ts';
import { expand, expandJson, referencedNames } from './expansion.ts';
import { fieldAt } from './field-path.ts';

type Variable = NonNullable<BMCSettings['spec']['variables']>[number];

/** Settings with the values of their variables. */
export interface ResolvedSettings {
  readonly settings: Readonly<Record<string, string>>;
  /** Settings that contain a value of a Secret. */
  readonly secretNames: ReadonlySet<string>;
  /** What the settings are made of, without values of Secrets: those count by the version of the Secret. */
  readonly fingerprint: unknown;
}

interface Value {
  readonly text: string;
  /** Identifies the value; the value itself where it is no secret. */
  readonly fingerprint: string;
  readonly isSecret: boolean;
}

/**
 * Variables are resolved in the order of the list; a selector may use earlier ones. A value is inserted as it is, in JSON as a part of
 * its string: `$(X)` or `$$` in a password stay.
 */
export async function resolveSettings(
  object: BMCSettings,
  client: KubeClient,
): Promise<ResolvedSettings | { readonly missing: Explanation }> {
  const { settings = {}, variables = [] } = object.spec;
  if (variables.length === 0) return { settings, secretNames: new Set(), fingerprint: settings };
  const values = new Map<string, Value>();
  for (const variable of variables) {
    const found = await valueOf(variable, values, object, client);
    if (typeof found === 'string')
      return { missing: { reason: 'VariablesMissing', message: `variable ${variable.key}: ${found}` } };
    values.set(variable.key, found);
  }
  const texts = new Map([...values].map(([key, { text }]) => [key, text]));
  const entries = Object.entries(settings);
  const isSecret = (template: string) => referencedNames(template).some((name) => values.get(name)?.isSecret === true);
  return {
    settings: Object.fromEntries(
      entries.map(([name, template]) => [
        name,
        isResourceKey(name) ? expandJson(template, texts) : expand(template, texts),
      ]),
    ),
    secretNames: new Set(entries.filter(([, template]) => isSecret(template)).map(([name]) => name)),
    fingerprint: { settings, values: [...values].map(([key, { fingerprint }]) => [key, fingerprint]) },
  };
}

/** The value, or why there is none. */
async function valueOf(
  { valueFrom }: Variable,
  known: ReadonlyMap<string, Value>,
  object: BMCSettings,
  client: KubeClient,
): Promise<Value | string> {
  const texts = new Map([...known].map(([key, { text }]) => [key, text]));
  const expanded = (text: string): string => expand(text, texts);
  const { fieldRef, objectFieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef !== undefined)
    return plain(fieldAt(object, fieldRef.fieldPath), `this object has no text at ${fieldRef.fieldPath}`);
  if (objectFieldRef !== undefined) {
    const name = expanded(objectFieldRef.name);
    const bmc = await client.get(BMC, { name }).catch(undefinedIfAbsent);
    if (bmc === undefined) return `BMC ${name} does not exist`;
    return plain(fieldAt(bmc, objectFieldRef.fieldPath), `BMC ${name} has no text at ${objectFieldRef.fieldPath}`);
  }
  const selector = configMapKeyRef ?? secretKeyRef;
  if (selector === undefined) return 'it has no source';
  const ref = { name: expanded(selector.name), namespace: expanded(selector.namespace) };
  const key = expanded(selector.key);
  if (secretKeyRef !== undefined) {
    const found = await secretText(ref, key, client);
    if (typeof found === 'string') return found;
    return { text: found.text, fingerprint: `${found.version}/${key}`, isSecret: true };
  }
  const found = await configMapText(ref, key, client);
  return typeof found === 'string' ? found : { text: found.text, fingerprint: found.text, isSecret: false };
}

const plain = (text: string | undefined, otherwise: string): Value | string =>
  text === undefined ? otherwise : { text, fingerprint: text, isSecret: false };
