import{a}from"./chunk-DJ6UQV75.js";import"./chunk-3NYQ57EX.js";import"./chunk-Z64DPWWL.js";import"./chunk-JEQOIAWV.js";export{a as reader};
