/** The API group and version of all kinds in this folder. */
export const metalV1alpha1 = { group: 'metal.ironcore.dev', version: 'v1alpha1' } as const;
