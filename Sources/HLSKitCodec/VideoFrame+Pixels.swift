public import HLSKitLoading

extension VideoFrame {
    /// Returns a copy of all pixels in the format ``pixelFormatName``.
    ///
    /// The planes follow one another, with rows from top to bottom and without padding, as `ffmpeg -f rawvideo` writes
    /// the frame. The copy takes 3 MB for a frame of 1080p in 4:2:0. ``withPlanes(_:)`` reads the pixels without
    /// copying.
    public func pixelBytes() -> [UInt8] {
        withPlanes { planes in
            let count = planes.reduce(0) { $0 + $1.pictureBytesPerRow * $1.rowCount }
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                let target = UnsafeMutableRawBufferPointer(buffer)
                for plane in planes {
                    plane.forEachRun { bytes in
                        UnsafeMutableRawBufferPointer(rebasing: target[written...]).copyMemory(from: bytes)
                        written += bytes.count
                    }
                }
            }
        }
    }

    /// Returns the MD5 of ``pixelBytes()`` as 32 hexadecimal digits, calculated without a copy.
    ///
    /// It equals the hash in the lines of `ffmpeg -f framemd5` and ``OutputFormat/framemd5``. Frames with equal pixels
    /// have equal digests, regardless of their times. Use it for tests, not as a signature.
    ///
    /// - Throws: An error if there is no memory for the hash.
    public func digest() throws(HLSError) -> String {
        try HLSError.converting { () throws(CodecError) in
            let hash = try LibraryDigest(.md5)
            _ = hash.update(with: self)
            return hash.finish()
        }
    }
}

extension LibraryDigest {
    /// Adds the pixels of a frame, without padding. Returns the number of bytes.
    package func update(with frame: VideoFrame) -> Int {
        frame.withPlanes { planes in
            var count = 0
            for plane in planes {
                plane.forEachRun { bytes in
                    update(bytes)
                    count += bytes.count
                }
            }
            return count
        }
    }
}
