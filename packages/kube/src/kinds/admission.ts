import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from './builtin.ts';
import type { Kind, NewObject } from './kind.ts';

/**
 * A rule that a schema cannot hold: about deletion, about other objects, or one that only advises. The API server
 * evaluates it by itself, so nothing of ours has to be running for it.
 */
export interface AdmissionRule {
  /** Name of the policy and of its binding. */
  readonly name: string;
  readonly kind: Kind;
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** Deny refuses the request; Warn lets it pass, and `kubectl` shows the message. */
  readonly action: 'Deny' | 'Warn';
  /** What the refusal is called: Invalid (422) unless it is about who may do what. */
  readonly denyReason?: 'Invalid' | 'Forbidden';
  /** CEL; the rule is only about requests for which it is true. */
  readonly when?: string;
  /** CEL by name, for use as `variables.<name>`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The rule is checked once with every object of the kind as `params`, so there should be few; it holds when it holds with each. */
  readonly against?: Kind;
  readonly checks: readonly AdmissionCheck[];
}

export interface AdmissionCheck {
  /** CEL: what has to be true. */
  readonly holds: string;
  /** CEL that gives the text to show when it is not. */
  readonly message: string;
}

/** The two objects that make a rule work, as they are installed. */
export function toAdmissionObjects(
  rule: AdmissionRule,
): [policy: NewObject<ValidatingAdmissionPolicy>, binding: NewObject<ValidatingAdmissionPolicyBinding>] {
  const { name, kind, operations, action, denyReason = 'Invalid', when, variables = {}, against, checks } = rule;
  const { group, version, plural } = kind;
  const policy = {
    metadata: { name },
    spec: {
      // Advice, and a comparison with objects that cannot be read right now, is no ground to refuse a request.
      failurePolicy: action === 'Deny' && against === undefined ? 'Fail' : 'Ignore',
      ...(against === undefined ? {} : { paramKind: { apiVersion: against.apiVersion, kind: against.kind } }),
      matchConstraints: {
        resourceRules: [{ apiGroups: [group], apiVersions: [version], operations, resources: [plural] }],
      },
      ...(when === undefined ? {} : { matchConditions: [{ name: 'when', expression: when }] }),
      variables: Object.entries(variables).map(([variable, expression]) => ({ name: variable, expression })),
      validations: checks.map(({ holds, message }) => ({
        expression: holds,
        messageExpression: message,
        reason: denyReason,
      })),
    },
  };
  const binding = {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: [action],
      ...(against === undefined ? {} : { paramRef: { selector: {}, parameterNotFoundAction: 'Allow' } }),
    },
  };
  return [policy, binding];
}
