import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { controllers } from '@metal/operator/controllers.ts';
import { admissionRules } from '@metal/api/admission.ts';
import { kinds } from '@metal/api/kinds.ts';
import { admissionFiles } from './generate/admission.ts';
import { rejectionReasons } from '@metal/operator/scheduling/rejection-reasons.ts';
import { reasonSources } from './generate/reason-sources.ts';
import { crdFiles } from './generate/crds.ts';
import { dashboard } from './generate/dashboard.ts';
import { errorChapters } from './generate/error-chapters.ts';
import { errorPage } from './generate/error-page.ts';
import { bringUpToDate, findStale, type GeneratedFolder } from './generate/generated-folder.ts';
import { kindPages } from './generate/kind-pages.ts';
import { metadataRbac } from './generate/metadata-rbac.ts';
import { convenienceRoles, generateRbac } from './generate/rbac.ts';
import { optionPage } from './generate/option-page.ts';
import { profilePage } from './generate/profile-page.ts';
import { reasonPage } from './generate/reason-page.ts';
import { reasonsModule } from './generate/reasons-module.ts';
import { serviceWriters } from './generate/service-writers.ts';
import { stateDiagrams } from './generate/state-diagrams.ts';

const help = `Usage: npm run generate [-- --check]

Writes all generated files: CRDs, admission policies, RBAC roles, reasons, reference pages, state diagrams.

  --check   Write nothing; exit 1 and list the files that differ from what would be written.
  --help    Show this text.
`;

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Folders that hold generated files. To add one, add a line. */
function everything(): GeneratedFolder[] {
  return [
    { path: 'deploy/crds', files: crdFiles(kinds) },
    { path: 'deploy/admission', files: admissionFiles(admissionRules) },
    { path: 'deploy/rbac', files: [...generateRbac({ kinds, controllers, services: serviceWriters }), metadataRbac()] },
    { path: 'deploy/rbac/kinds', files: convenienceRoles(kinds) },
    { path: 'deploy/grafana', files: [dashboard()] },
    {
      path: 'packages/api/src/reasons',
      files: [reasonsModule(reasonSources, rejectionReasons, errorChapters)],
      isShared: true,
    },
    { path: 'docs/kinds', files: kindPages(kinds) },
    { path: 'docs/states', files: stateDiagrams(controllers) },
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
