import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { type Component, hashOfIntegrity, part } from './component.ts';

export interface BundledPackage {
  /** Relative to the repository. */
  readonly folder: string;
  readonly component: Component;
}

const lockFile = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string().optional(), integrity: z.string().optional(), license: z.string().optional() }),
  ),
});

/** Packages that give their licence in a form that npm no longer reads. */
const otherLicences: Readonly<Record<string, string>> = { ssh2: 'MIT' };

/** The npm packages of bundled files, with version, licence and digest of package-lock.json. */
export async function bundledPackages(files: readonly string[], root: string): Promise<BundledPackage[]> {
  const { packages } = lockFile.parse(JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')));
  const folders = new Set(files.flatMap((file) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []));
  return [...folders].toSorted().map((folder) => {
    const { version = '', license, integrity } = packages[folder] ?? {};
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const licence = license ?? otherLicences[name];
    const hash = hashOfIntegrity(integrity);
    if (hash === undefined || licence === undefined)
      throw new Error(`package-lock.json has no digest or no licence of ${folder}`);
    return {
      folder,
      component: part({
        name,
        version,
        purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
        licenses: [licence],
        hash,
      }),
    };
  });
}

/** The licence files of all packages in one text. */
export async function licenceTexts(packages: readonly BundledPackage[], root: string): Promise<string> {
  const texts = await Promise.all(
    packages.map(async ({ folder, component: { name, version, licenses } }) => {
      const names = (await readdir(join(root, folder))).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
      const found = await Promise.all(names.toSorted().map((file) => readFile(join(root, folder, file), 'utf8')));
      return `${name} ${version}: ${licenses.join(', ')}\n\n${found.join('\n')}`;
    }),
  );
  return `${texts.join(`\n${'-'.repeat(80)}\n`)}\n`;
}
