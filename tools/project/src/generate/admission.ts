import { type AdmissionRule, toAdmissionObjects } from '@metal/kube/kinds/admission.ts';
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@metal/kube/kinds/builtin.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { yamlFile } from './yaml-file.ts';

/** One file per rule, with policy and binding, so that each rule can be omitted. */
export function admissionFiles(rules: readonly AdmissionRule[]): GeneratedFile[] {
  return rules.map((rule) => {
    const [policy, binding] = toAdmissionObjects(rule);
    return yamlFile(`${rule.name.replace(/^metal-operator-/, '')}.yaml`, [
      { apiVersion: ValidatingAdmissionPolicy.apiVersion, kind: ValidatingAdmissionPolicy.kind, ...policy },
      {
        apiVersion: ValidatingAdmissionPolicyBinding.apiVersion,
        kind: ValidatingAdmissionPolicyBinding.kind,
        ...binding,
      },
    ]);
  });
}
