import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from './builtin.ts';
import type { Kind, NewObject } from './kind.ts';

/**
 * A rule that a schema cannot express: about deletion, about other objects, or a warning. The API server evaluates it, so
 * no webhook has to run for it.
 */
export interface AdmissionRule {
  /** Name of the policy and of its binding. */
  readonly name: string;
  readonly kind: Kind;
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** Deny rejects the request; Warn admits it, and `kubectl` shows the message. */
  readonly action: 'Deny' | 'Warn';
  /** Status reason of a denied request. Default: Invalid (422). */
  readonly denyReason?: 'Invalid' | 'Forbidden';
  /** CEL; the rule applies to requests for which it is true. */
  readonly when?: string;
  /** CEL by name, for use as `variables.<name>`. */
  readonly variables?: Readonly<Record<string, string>>;
  /** The rule is evaluated once per object of this kind, as `params`, so there should be few; it must hold for each. */
  readonly against?: Kind;
  /** A denied request reports all that do not hold. */
  readonly checks: readonly AdmissionCheck[];
}

export interface AdmissionCheck {
  /** CEL that has to be true. */
  readonly holds: string;
  /** CEL for the message if it is false. */
  readonly message: string;
}

/** The two API objects of a rule. */
export function toAdmissionObjects(
  rule: AdmissionRule,
): [policy: NewObject<ValidatingAdmissionPolicy>, binding: NewObject<ValidatingAdmissionPolicyBinding>] {
  const { name, kind, operations, action, denyReason = 'Invalid', when, against } = rule;
  const { variables = {}, checks } = action === 'Deny' && rule.checks.length > 1 ? reportingAll(rule) : rule;
  const { group, version, plural } = kind;
  const policy = {
    metadata: { name },
    spec: {
      // A warning, or objects that cannot be read right now, must not reject a request.
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

/** The response to a denied request has the message of one validation: this one has those of all checks. */
function reportingAll({ variables, checks }: AdmissionRule): Pick<AdmissionRule, 'variables' | 'checks'> {
  const problems = checks.map(({ holds, message }) => `(${holds}) ? '' : (${message})`).join(',\n');
  return {
    variables: { ...variables, problems: `[\n${problems}\n].filter(problem, problem != '')` },
    checks: [{ holds: 'variables.problems.size() == 0', message: `variables.problems.join('; ')` }],
  };
}
