import{a}from"./chunk-RR4D3ZXZ.js";import"./chunk-JOYXGCHE.js";import"./chunk-3MFJGH2I.js";import"./chunk-5GLCN2TD.js";export{a as reader};
