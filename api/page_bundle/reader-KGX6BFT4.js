import{a}from"./chunk-QRZJ6JEH.js";import"./chunk-HXVW6WGS.js";import"./chunk-4N44B3ZK.js";import"./chunk-NZBFTS6T.js";import"./chunk-HOED4DUL.js";import"./chunk-WOT6VMZA.js";export{a as reader};
