import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { controllers } from '@metal/operator/controllers.ts';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { metal3AdmissionRules } from '@metal/api/metal3/admission/metal3-admission-rules.ts';
import { metal3Controllers } from '@metal/metal3/controllers.ts';
import { metal3Kinds } from '@metal/api/metal3/metal3-kinds.ts';
import { admissionFiles } from './generate/admission.ts';
import { claimReasons } from '@metal/operator/controllers/serverclaim/reasons.ts';
import { rejectionReasons } from '@metal/operator/scheduling/rejection-reasons.ts';
import { reasonSources } from './generate/reason-sources.ts';
import { chartFolders } from './generate/chart/chart-files.ts';
import { crdFiles } from './generate/crds.ts';
import { dashboard } from './generate/dashboard.ts';
import { errorChapters } from './generate/error-chapters.ts';
import { errorPage } from './generate/error-page.ts';
import { bringUpToDate, findStale, type GeneratedFolder } from './generate/generated-folder.ts';
import { kindPages } from './generate/kind-pages.ts';
import { metadataRbac } from './generate/metadata-rbac.ts';
import { convenienceRoles, generateRbac, metal3Role, metal3Rules } from './generate/rbac.ts';
import { optionPage } from './generate/option-page.ts';
import { profilePage } from './generate/profile-page.ts';
import { blockedClaimReasons, reasonCatalogue } from './generate/reason-catalogue.ts';
import { reasonPage } from './generate/reason-page.ts';
import { serviceWriters } from './generate/service-writers.ts';
import { startScript } from './generate/start-script.ts';
import { stateDiagrams } from './generate/state-diagrams.ts';

const help = `Usage: npm run generate [-- --check]

Writes all generated files: CRDs, admission policies, RBAC roles, reasons, reference pages, state diagrams,
the start script.

  --check   Write nothing; exit 1 and list the files that differ from what would be written.
  --help    Show this text.
`;

const root = fileURLToPath(new URL('../../../', import.meta.url));

const metal3Pages = {
  title: 'Kinds of Metal3',
  text: 'The API of Metal3 (`metal3.io/v1alpha1`), for its manifests and for its Cluster API provider. CRDs and admission policies are in `deploy/metal3`: do not apply them to a cluster with the baremetal-operator of Metal3. The component [`metal3`](../operate/metal3.md) serves them.',
  kinds: metal3Kinds,
};

/** Folders that hold generated files. To add one, add a line. */
function everything(): GeneratedFolder[] {
  return [
    { path: 'deploy/crds', files: crdFiles(kinds) },
    { path: 'deploy/admission', files: admissionFiles(admissionRules) },
    { path: 'deploy/metal3/crds', files: crdFiles(metal3Kinds) },
    { path: 'deploy/metal3/admission', files: admissionFiles(metal3AdmissionRules) },
    { path: 'deploy/metal3/rbac', files: [metal3Role(metal3Rules(metal3Controllers, kinds, metal3Kinds))] },
    { path: 'deploy/rbac', files: [...generateRbac({ kinds, controllers, services: serviceWriters }), metadataRbac()] },
    { path: 'deploy/rbac/kinds', files: convenienceRoles(kinds) },
    { path: 'deploy/grafana', files: [dashboard()] },
    ...chartFolders(),
    {
      path: 'packages/api/src/reasons',
      files: [reasonCatalogue(reasonSources, rejectionReasons, errorChapters), blockedClaimReasons(claimReasons)],
      isShared: true,
    },
    { path: 'docs/kinds', files: kindPages([{ kinds }, metal3Pages]) },
    { path: 'docs/states', files: stateDiagrams([...controllers, ...metal3Controllers]) },
    { path: 'services/metal-operator/bin', files: [startScript()], isShared: true },
    { path: 'docs', files: [errorPage(errorChapters)], isShared: true },
    { path: 'tools/simulator', files: [profilePage()], isShared: true },
    { path: 'docs/operate', files: [optionPage(), reasonPage(reasonSources, rejectionReasons)], isShared: true },
  ];
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  if (values.check !== true) {
    const changed = await bringUpToDate(root, everything());
    process.stdout.write(changed.map((path) => `${path}\n`).join(''));
    return 0;
  }
  const stale = await findStale(root, everything());
  if (stale.length === 0) return 0;
  process.stderr.write(`These generated files are out of date; run "npm run generate":\n${stale.join('\n')}\n`);
  return 1;
}

process.exitCode = await main();
