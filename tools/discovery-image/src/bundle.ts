import { build } from 'esbuild';

/** Bundles the agent with all its imports into one file for Node. */
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
    // CommonJS libraries use require.
    banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}
