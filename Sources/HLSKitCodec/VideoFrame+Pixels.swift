public import HLSKitLoading

extension VideoFrame {
    /// A copy of all pixels: plane after plane, rows from top to bottom, without padding, in the format of
    /// ``pixelFormatName``. It is what `ffmpeg -f rawvideo` writes of the frame.
    ///
    /// Costs the copy: 3 MB for a frame of 1080p in 4:2:0. ``withPlanes(_:)`` reads the pixels where they are.
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

    /// The MD5 of ``pixelBytes()`` as 32 hexadecimal digits, worked out without a copy: the hash in the lines of
    /// `ffmpeg -f framemd5` and of ``OutputFormat/framemd5``.
    ///
    /// Frames of equal pixels have equal digests, whatever their times. Good for tests; not a signature.
    /// - Throws: if there is no memory for the hash.
    public func digest() throws(HLSError) -> String {
        try HLSError.converting { () throws(CodecError) in
            let hash = try LibraryDigest(.md5)
            _ = hash.update(with: self)
            return hash.finish()
        }
    }
}

extension LibraryDigest {
    /// Adds the pixels of a frame, without padding. Returns how many bytes they are.
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
