// Loads every file of jobs.json, plays it with three.js and collects world positions of joints at the given times.
import * as THREE from 'three';
import { GLTFLoader } from 'three/addons/loaders/GLTFLoader.js';
import { VRMLoaderPlugin } from '@pixiv/three-vrm';
import { VRMAnimationLoaderPlugin, createVRMAnimationClip } from '@pixiv/three-vrm-animation';

const loader = new GLTFLoader();
loader.register((parser) => new VRMLoaderPlugin(parser));
loader.register((parser) => new VRMAnimationLoaderPlugin(parser));

function place(node) {
  return node ? node.getWorldPosition(new THREE.Vector3()).toArray() : [null, null, null];
}

// GLTFLoader changes names (spaces, colons, dots); the parser knows which object came from which node of the file.
async function nodesByName(gltf) {
  const byName = {};
  const nodes = gltf.parser.json.nodes;
  for (let i = 0; i < nodes.length; i++) byName[nodes[i].name] = await gltf.parser.getDependency('node', i);
  return byName;
}

function play(root, clip, times, read) {
  const mixer = new THREE.AnimationMixer(root);
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  action.play();
  return times.map((time) => {
    mixer.setTime(time);
    return read();
  });
}

async function openGlb(job) {
  const gltf = await loader.loadAsync(job.file);
  const nodes = await nodesByName(gltf);
  return play(gltf.scene, gltf.animations[0], job.times, () => {
    gltf.scene.updateMatrixWorld(true);
    return job.joints.map((name) => place(nodes[name]));
  });
}

async function openVrma(job) {
  const vrm = (await loader.loadAsync(job.avatar)).userData.vrm;
  const animation = (await loader.loadAsync(job.file)).userData.vrmAnimations[0];
  return play(vrm.scene, createVRMAnimationClip(animation, vrm), job.times, () => {
    vrm.humanoid.update();
    vrm.scene.updateMatrixWorld(true);
    return job.joints.map((bone) => place(vrm.humanoid.getRawBoneNode(bone)));
  });
}

window.openAll = async () => {
  const jobs = await (await fetch('jobs.json')).json();
  const files = {};
  for (const job of jobs) files[job.file] = job.kind === 'glb' ? await openGlb(job) : await openVrma(job);
  return { three: THREE.REVISION, browser: navigator.userAgent.match(/\S*Chrome\/\S+/)[0], files };
};
window.ready = true;
