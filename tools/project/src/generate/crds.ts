import { CustomResourceDefinition } from '@metal/kube/kinds/builtin.ts';
import { toCustomResourceDefinition } from '@metal/kube/kinds/crd.ts';
import type { DefinedKind } from '@metal/kube/kinds/define-kind.ts';
import type { GeneratedFile } from './generated-folder.ts';
import { yamlFile } from './yaml-file.ts';

/** One file per CRD, named as by controller-gen. */
export function crdFiles(kinds: readonly DefinedKind[]): GeneratedFile[] {
  const { apiVersion, kind } = CustomResourceDefinition;
  return kinds.map((defined) =>
    yamlFile(`${defined.group}_${defined.plural}.yaml`, [{ apiVersion, kind, ...toCustomResourceDefinition(defined) }]),
  );
}
