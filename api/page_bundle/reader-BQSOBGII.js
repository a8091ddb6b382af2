import{a}from"./chunk-MBALG2RA.js";import"./chunk-KBOK23A5.js";import"./chunk-FF3O7666.js";import"./chunk-LJHKCBXF.js";export{a as reader};
