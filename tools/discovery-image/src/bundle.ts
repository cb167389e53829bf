import { build } from 'esbuild';

/** The agent and all that it imports as one file that Node runs. */
export async function bundleAgent(entry: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    minify: true,
    legalComments: 'none',
    // Libraries that were written for require look for it.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}
