"""The rasteriser: triangles into depth, normal and colour buffers, light, shadow and floor, all compiled.

Colours are linear light, 0 to 1, until `resolve` turns them into sRGB bytes.
"""

import math

import numba as nb
import numpy as np

from mimik._types import Array, IntArray

FAR = np.float32(1e30)


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def draw_triangles(
    vertices: Array,  # (V, 3) world
    normals: Array,  # (V, 3)
    colors: Array,  # (V, 3)
    tint: Array,  # (V,) above 0 the accent colour is worn
    accent: Array,  # (3,) factor on the colour there
    faces: IntArray,  # (F, 3)
    eye: Array,  # (3,)
    axes: Array,  # (3, 3) right, up, forward
    focal: float,
    both: bool,  # also triangles that face away
    depth: Array,  # (H, W) nearest depth so far
    surface: Array,  # (H, W, 6) normal and colour there
) -> None:
    """Draw triangles into the buffers; those that face away only with `both`, lit from their back."""
    height, width = depth.shape
    screen = np.empty((len(vertices), 3), dtype=np.float64)
    for v in range(len(vertices)):
        x, y, z = vertices[v, 0] - eye[0], vertices[v, 1] - eye[1], vertices[v, 2] - eye[2]
        d = x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2]
        inv = focal / d if d > 0.02 else 0.0
        screen[v, 0] = 0.5 * width + inv * (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2])
        screen[v, 1] = 0.5 * height - inv * (x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2])
        screen[v, 2] = d
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        if screen[i, 2] <= 0.02 or screen[j, 2] <= 0.02 or screen[k, 2] <= 0.02:
            continue
        x0, y0, x1, y1, x2, y2 = screen[i, 0], screen[i, 1], screen[j, 0], screen[j, 1], screen[k, 0], screen[k, 1]
        area = (x2 - x0) * (y1 - y0) - (x1 - x0) * (y2 - y0)
        if area <= 0.0 and not (both and area < 0.0):
            continue
        side = 1.0 if area > 0.0 else -1.0
        left, right = int(max(0.0, math.ceil(min(x0, x1, x2) - 0.5))), int(min(width - 1.0, max(x0, x1, x2) - 0.5))
        top, bottom = int(max(0.0, math.ceil(min(y0, y1, y2) - 0.5))), int(min(height - 1.0, max(y0, y1, y2) - 0.5))
        for r in range(top, bottom + 1):
            py = r + 0.5
            for c in range(left, right + 1):
                px = c + 0.5
                a = ((x2 - x1) * (y1 - py) - (x1 - px) * (y2 - y1)) / area
                b = ((x0 - x2) * (y2 - py) - (x2 - px) * (y0 - y2)) / area
                g = 1.0 - a - b
                if a < 0.0 or b < 0.0 or g < 0.0:
                    continue
                d = a * screen[i, 2] + b * screen[j, 2] + g * screen[k, 2]
                if d < depth[r, c]:
                    depth[r, c] = d
                    worn = min(1.0, max(0.0, 0.5 + 3.0 * (a * tint[i] + b * tint[j] + g * tint[k])))
                    for n in range(3):
                        surface[r, c, n] = side * (a * normals[i, n] + b * normals[j, n] + g * normals[k, n])
                        plain = a * colors[i, n] + b * colors[j, n] + g * colors[k, n]
                        surface[r, c, 3 + n] = plain * (1.0 + worn * (accent[n] - 1.0))


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def draw_shadow(vertices: Array, faces: IntArray, light: Array, low: Array, texel: float, heights: Array) -> None:
    """Write into `heights` (N, N) the nearest place to the light along it, over a square grid across the light.

    light  rows across, across, toward the light (3, 3); low (2,) corner of the grid in the first two, metres
    """
    size = len(heights)
    flat = np.empty((len(vertices), 3))
    for v in range(len(vertices)):
        for k in range(3):
            flat[v, k] = vertices[v, 0] * light[k, 0] + vertices[v, 1] * light[k, 1] + vertices[v, 2] * light[k, 2]
        flat[v, 0] = (flat[v, 0] - low[0]) / texel
        flat[v, 1] = (flat[v, 1] - low[1]) / texel
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        x0, y0, x1, y1, x2, y2 = flat[i, 0], flat[i, 1], flat[j, 0], flat[j, 1], flat[k, 0], flat[k, 1]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if abs(area) < 1e-12:
            continue
        left, right = int(max(0.0, math.ceil(min(x0, x1, x2)))), int(min(size - 1.0, max(x0, x1, x2)))
        top, bottom = int(max(0.0, math.ceil(min(y0, y1, y2)))), int(min(size - 1.0, max(y0, y1, y2)))
        for r in range(top, bottom + 1):
            for c in range(left, right + 1):
                a = ((x1 - c) * (y2 - r) - (x2 - c) * (y1 - r)) / area
                b = ((x2 - c) * (y0 - r) - (x0 - c) * (y2 - r)) / area
                g = 1.0 - a - b
                if a < -0.01 or b < -0.01 or g < -0.01:
                    continue
                h = a * flat[i, 2] + b * flat[j, 2] + g * flat[k, 2]
                heights[r, c] = max(heights[r, c], h)


@nb.njit(cache=True, error_model="numpy", nogil=True, inline="always")  # type: ignore[misc]
def _lit(
    heights: Array, light: Array, low: Array, texel: float, x: float, y: float, z: float, bias: float, soft: int
) -> float:
    """Return how much of the main light reaches a point, 0 to 1, averaged over a square of the shadow grid."""
    size = len(heights)
    u = (x * light[0, 0] + y * light[0, 1] + z * light[0, 2] - low[0]) / texel
    v = (x * light[1, 0] + y * light[1, 1] + z * light[1, 2] - low[1]) / texel
    h = x * light[2, 0] + y * light[2, 1] + z * light[2, 2] + bias
    ci, ri = math.floor(u), math.floor(v)
    if ci < soft or ri < soft or ci >= size - 1 - soft or ri >= size - 1 - soft:
        return 1.0
    fu, fv = u - ci, v - ri
    total = 0.0
    for dr in range(-soft, soft + 2):
        wr = (1.0 - fv) if dr == -soft else (fv if dr == soft + 1 else 1.0)
        for dc in range(-soft, soft + 2):
            wc = (1.0 - fu) if dc == -soft else (fu if dc == soft + 1 else 1.0)
            if heights[ri + dr, ci + dc] <= h:
                total += wr * wc
    return total / ((2 * soft + 1) ** 2)


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def shade_surface(
    depth: Array,  # (H, W)
    surface: Array,  # (H, W, 6)
    eye: Array,
    axes: Array,
    focal: float,
    heights: Array,  # (N, N) shadow grid
    light: Array,  # (3, 3)
    low: Array,
    texel: float,
    lamps: Array,  # (5, 3) key, fill, rim, sky, ground colours
    aims: Array,  # (2, 3) toward fill and rim
    floor: float,
    opacity: float,
    image: Array,  # (H, W, 3) drawn over
) -> None:
    """Light every pixel of a surface: main light and shadow, fill, rim, sky, floor and gloss; highlights roll off."""
    height, width = depth.shape
    for r in range(height):
        for c in range(width):
            d = depth[r, c]
            if d >= 1e29:
                continue
            a, b = (c + 0.5 - 0.5 * width) / focal, (0.5 * height - r - 0.5) / focal
            rx = a * axes[0, 0] + b * axes[1, 0] + axes[2, 0]
            ry = a * axes[0, 1] + b * axes[1, 1] + axes[2, 1]
            rz = a * axes[0, 2] + b * axes[1, 2] + axes[2, 2]
            x, y, z = eye[0] + d * rx, eye[1] + d * ry, eye[2] + d * rz
            length = 1.0 / math.sqrt(rx * rx + ry * ry + rz * rz)
            rx, ry, rz = -rx * length, -ry * length, -rz * length
            nx, ny, nz = surface[r, c, 0], surface[r, c, 1], surface[r, c, 2]
            length = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + 1e-12)
            nx, ny, nz = nx * length, ny * length, nz * length
            facing = max(0.0, nx * rx + ny * ry + nz * rz)
            key = nx * light[2, 0] + ny * light[2, 1] + nz * light[2, 2]
            shadow = 0.0
            if key > 0.0:
                shadow = _lit(heights, light, low, texel, x + 0.012 * nx, y + 0.012 * ny, z + 0.012 * nz, 0.006, 2)
            key = max(0.0, 0.92 * key + 0.08) * shadow
            fill = max(0.0, 0.7 * (nx * aims[0, 0] + ny * aims[0, 1] + nz * aims[0, 2]) + 0.3)
            rim = max(0.0, nx * aims[1, 0] + ny * aims[1, 1] + nz * aims[1, 2]) * (1.0 - facing) ** 2
            hx, hy, hz = rx + light[2, 0], ry + light[2, 1], rz + light[2, 2]
            length = 1.0 / math.sqrt(hx * hx + hy * hy + hz * hz + 1e-12)
            gloss = max(0.0, (nx * hx + ny * hy + nz * hz) * length)
            gloss = 0.10 * shadow * gloss**24
            edge = 0.05 * (1.0 - facing) ** 4
            sky = 0.5 + 0.5 * ny
            near_floor = max(0.0, 1.0 - max(0.0, y - floor) / 0.35) * max(0.0, -ny) * 0.6
            for k in range(3):
                ambient = (sky * lamps[3, k] + (1.0 - sky) * lamps[4, k]) * (1.0 - near_floor)
                glow = surface[r, c, 3 + k] * (key * lamps[0, k] + fill * lamps[1, k] + ambient)
                glow += rim * lamps[2, k] + (gloss + edge) * lamps[0, k]
                if glow > 0.7:
                    glow = 0.7 + 0.3 * (1.0 - math.exp(-(glow - 0.7) / 0.3))
                image[r, c, k] += opacity * (glow - image[r, c, k])


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def draw_floor(
    eye: Array, axes: Array, focal: float, floor: float, centre: Array, radius: float,
    line: Array, ground: Array, sky: Array, sky_top: Array, image: Array, places: Array,
) -> None:  # fmt: skip
    """Paint sky and a floor with one-metre lines that fades out round `centre`; note each pixel's place on the floor.

    places  (H, W, 3) x, z on the floor and how visible it is there (0 for sky)
    """
    height, width = image.shape[:2]
    for r in range(height):
        b = (0.5 * height - r - 0.5) / focal
        share = r / height
        for c in range(width):
            a = (c + 0.5 - 0.5 * width) / focal
            rx = a * axes[0, 0] + b * axes[1, 0] + axes[2, 0]
            ry = a * axes[0, 1] + b * axes[1, 1] + axes[2, 1]
            rz = a * axes[0, 2] + b * axes[1, 2] + axes[2, 2]
            shown, x, z, ink = 0.0, 0.0, 0.0, 0.0
            if ry < -1e-4 and eye[1] > floor:
                d = (floor - eye[1]) / ry
                x, z = eye[0] + d * rx, eye[2] + d * rz
                away = math.sqrt((x - centre[0]) ** 2 + (z - centre[2]) ** 2) / radius
                shown = max(0.0, 1.0 - away * away)
                shown = shown * shown * (3.0 - 2.0 * shown)
                pixel = d / focal
                stretch = pixel * math.sqrt(rx * rx + ry * ry + rz * rz) / -ry
                for step, weight in ((1.0, 1.0), (0.25, 0.28)):
                    for place, grow in ((x, math.sqrt(pixel * stretch)), (z, math.sqrt(pixel * stretch))):
                        off = abs(place / step - math.floor(place / step + 0.5)) * step
                        wide = max(0.004 * math.sqrt(step), 0.75 * grow)
                        thin = 0.004 * math.sqrt(step) / wide
                        ink = max(ink, weight * thin * max(0.0, 1.5 - off / wide) / 1.0)
            places[r, c, 0], places[r, c, 1], places[r, c, 2] = x, z, shown
            ink = min(1.0, ink)
            for k in range(3):
                back = sky_top[k] + share * (sky[k] - sky_top[k])
                tile = ground[k] + ink * (line[k] - ground[k])
                image[r, c, k] = back + shown * (tile - back)


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def floor_contact(vertices: Array, floor: float, low: Array, cell: float, grid: Array) -> None:
    """Add to `grid` (N, M), rows along z, how much of the figure is near the floor over each cell."""
    for v in range(len(vertices)):
        h = max(0.0, vertices[v, 1] - floor)
        if h < 0.6:
            c, r = int((vertices[v, 0] - low[0]) / cell), int((vertices[v, 2] - low[1]) / cell)
            if 0 <= r < grid.shape[0] and 0 <= c < grid.shape[1]:
                grid[r, c] += math.exp(-h / 0.09)


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def shadow_floor(
    places: Array, depth: Array, floor: float, heights: Array, light: Array, low: Array, texel: float,
    contact: Array, contact_low: Array, contact_cell: float, tint: Array, strength: float, image: Array,
) -> None:  # fmt: skip
    """Darken the floor where the figure keeps off the main light, and round its contacts."""
    height, width = depth.shape
    rows, columns = contact.shape
    for r in range(height):
        for c in range(width):
            shown = places[r, c, 2]
            if shown <= 0.0 or depth[r, c] < 1e29:
                continue
            x, z = places[r, c, 0], places[r, c, 1]
            dark = strength * (1.0 - _lit(heights, light, low, texel, x, floor, z, 0.0, 3))
            u, v = (x - contact_low[0]) / contact_cell - 0.5, (z - contact_low[1]) / contact_cell - 0.5
            if 0.0 <= u < columns - 1 and 0.0 <= v < rows - 1:
                i, j = int(v), int(u)
                fu, fv = u - j, v - i
                near = (1 - fv) * ((1 - fu) * contact[i, j] + fu * contact[i, j + 1])
                near += fv * ((1 - fu) * contact[i + 1, j] + fu * contact[i + 1, j + 1])
                dark = 1.0 - (1.0 - dark) * (1.0 - 0.55 * near)
            dark *= shown
            if dark > 0.0:
                for k in range(3):
                    image[r, c, k] *= 1.0 - dark * (1.0 - tint[k])


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def draw_dots(
    points: Array, colors: Array, radius: float, eye: Array, axes: Array, focal: float, depth: Array, image: Array
) -> None:
    """Draw points (N, 3) as shaded balls of `radius` metres over the picture; paler where a surface hides them."""
    height, width = depth.shape
    for n in range(len(points)):
        x, y, z = points[n, 0] - eye[0], points[n, 1] - eye[1], points[n, 2] - eye[2]
        d = x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2]
        if not d > 0.05:
            continue
        cx = 0.5 * width + focal * (x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2]) / d
        cy = 0.5 * height - focal * (x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2]) / d
        size = focal * radius / d
        for r in range(max(0, int(cy - size - 2)), min(height, int(cy + size + 3))):
            for c in range(max(0, int(cx - size - 2)), min(width, int(cx + size + 3))):
                u, v = (c + 0.5 - cx) / size, (r + 0.5 - cy) / size
                away = math.sqrt(u * u + v * v)
                cover = min(1.0, max(0.0, (1.0 - away) * size + 0.5))
                if cover <= 0.0:
                    continue
                if depth[r, c] < d - 0.5 * radius:
                    cover *= 0.62
                high = math.sqrt(max(0.0, 1.0 - min(1.0, away * away)))
                bright = 0.62 + 0.38 * max(0.0, -0.45 * u - 0.55 * v + 0.7 * high)
                for k in range(3):
                    image[r, c, k] += cover * (bright * colors[n, k] - image[r, c, k])


@nb.njit(cache=True, error_model="numpy", nogil=True)  # type: ignore[misc]
def resolve(image: Array, samples: int, table: Array, out: Array) -> None:
    """Average samples x samples pixels and write sRGB bytes (H, W, 3) by a table of bytes over 0 to 1."""
    height, width = out.shape[:2]
    scale = np.float32((len(table) - 1) / (samples * samples))
    top = len(table) - 1
    for r in range(height):
        for c in range(width):
            for k in range(3):
                total = np.float32(0.0)
                for i in range(samples):
                    for j in range(samples):
                        total += image[r * samples + i, c * samples + j, k]
                out[r, c, k] = table[min(top, max(0, int(total * scale + np.float32(0.5))))]


def srgb_table(size: int = 8192) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return sRGB bytes of linear light 0 to 1 in even steps."""
    value = np.linspace(0.0, 1.0, size)
    coded = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1 / 2.4) - 0.055)
    return np.round(255.0 * coded).astype(np.uint8)
