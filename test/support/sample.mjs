/** 1-based lines of the two loops of `samples/two-threads`, as in the fixtures' copy. */
export const sampleLines = { longer: 14, shorter: 20 };
