import{a}from"./chunk-6YHW5UDB.js";import"./chunk-QDJLXFA2.js";import"./chunk-4N44B3ZK.js";import"./chunk-6JTJYVNV.js";import"./chunk-7ZXND5RQ.js";import"./chunk-YZPRYCI6.js";export{a as reader};
