/// The mapping of spherical video frames to a sphere (`sv3d`).
///
/// Source: "Spherical Video V2 RFC" of Google.
package struct SphericalMapping: Sendable, Hashable {
    package enum Projection: Sendable, Hashable {
        /// The parts to omit at the edges of the frame, as fractions of 2³²: top, bottom, left, right.
        case equirectangular(top: UInt32, bottom: UInt32, left: UInt32, right: UInt32)
        /// Pixels around each face.
        case cubemap(padding: UInt32)
    }

    package var projection: Projection
    /// The rotation of the sphere, in degrees as 16.16.
    package var yaw: Int32
    package var pitch: Int32
    package var roll: Int32

    package init(_ projection: Projection, yaw: Int32 = 0, pitch: Int32 = 0, roll: Int32 = 0) {
        self.projection = projection
        (self.yaw, self.pitch, self.roll) = (yaw, pitch, roll)
    }
}

extension SphericalMapping {
    init?(parsing payload: BoxReader) throws(MediaError) {
        var reader = payload
        while var child = try reader.nextBox() {
            guard child.type == "proj" else { continue }
            var (angles, projection): ([Int32], Projection?) = ([], nil)
            while var part = try child.payload.nextBox() {
                switch part.type {
                case "prhd":
                    _ = try part.payload.readVersionAndFlags()
                    for _ in 0..<3 { angles.append(Int32(bitPattern: try part.payload.readUInt32())) }
                case "equi":
                    _ = try part.payload.readVersionAndFlags()
                    projection = .equirectangular(
                        top: try part.payload.readUInt32(), bottom: try part.payload.readUInt32(),
                        left: try part.payload.readUInt32(), right: try part.payload.readUInt32())
                case "cbmp":
                    _ = try part.payload.readVersionAndFlags()
                    // Other layouts of the faces are unknown.
                    guard try part.payload.readUInt32() == 0 else { return nil }
                    projection = .cubemap(padding: try part.payload.readUInt32())
                default: break
                }
            }
            guard let projection else { return nil }
            self.init(projection)
            if angles.count == 3 { (yaw, pitch, roll) = (angles[0], angles[1], angles[2]) }
            return
        }
        return nil
    }
}
