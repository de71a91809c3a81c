import HLSKitPlaylist

extension PlaylistBenchmarks {
    static func checksum(of playlist: Playlist) -> UInt64 {
        var sum = Checksum()
        switch playlist {
        case .media(let playlist):
            sum.add(playlist.targetDuration)
            for segment in playlist.segments {
                sum.add(segment.uriBytes)
                sum.add(segment.duration)
                sum.add(segment.mediaSequence)
                sum.add(segment.discontinuitySequence)
                if let range = segment.byteRange {
                    sum.add(range.offset)
                    sum.add(range.length)
                }
                if let date = segment.derivedProgramDateTime {
                    sum.add(Int(date.seconds))
                    sum.add(Int(date.attoseconds))
                }
                for key in segment.keys { sum.add(key) }
                if let map = segment.map { sum.add(map.uri) }
                sum.add(segment.isGap ? 1 : 0)
                sum.add(segment.hasDiscontinuity ? 1 : 0)
                sum.add(segment.bitRate ?? 0)
                let parts = segment.parts
                for index in parts.indices {
                    sum.add(parts[index].uri)
                    sum.add(parts[index].duration)
                    sum.add(parts[index].isIndependent ? 1 : 0)
                }
            }
            for range in playlist.dateRanges {
                sum.add(range.id)
                sum.add(Int(range.startDate?.seconds ?? 0))
                sum.add(range.duration ?? .zero)
                for attribute in range.otherAttributes { sum.add(attribute.value) }
            }
        case .multivariant(let playlist):
            for index in playlist.variants.indices {
                sum.add(playlist.variants[index].uri)
                sum.add(playlist.variants[index].bandwidth)
                sum.add(playlist.variants[index].averageBandwidth ?? 0)
                sum.add(playlist.variants[index].codecsText ?? "")
                sum.add(playlist.variants[index].resolution?.width ?? 0)
                sum.add(playlist.variants[index].resolution?.height ?? 0)
                sum.add(Int(playlist.variants[index].frameRate ?? 0))
                sum.add(playlist.variants[index].audio ?? "")
                sum.add(playlist.variants[index].videoRange?.rawValue ?? "")
            }
            for rendition in playlist.renditions {
                sum.add(rendition.groupID)
                sum.add(rendition.name)
                sum.add(rendition.uri ?? "")
                sum.add(rendition.language ?? "")
                sum.add(rendition.isDefault ? 1 : 0)
            }
        }
        return sum.value
    }
}

/// Mixes values in order. It reads eight bytes at a time so that it costs little compared with parsing.
struct Checksum {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    @inline(__always)
    mutating func add(_ number: Int) {
        value = (value ^ UInt64(bitPattern: Int64(number))) &* 0x9E37_79B9_7F4A_7C15
        value ^= value &>> 29
    }

    mutating func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        add(Int(seconds))
        add(Int(attoseconds))
    }

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { add($0) }
    }

    mutating func add(_ text: String) {
        // Native Swift strings are contiguous. Only bridged strings are not.
        if text.utf8.withContiguousStorageIfAvailable({ add(UnsafeRawBufferPointer($0)) }) == nil {
            add(ArraySlice(text.utf8))
        }
    }

    mutating func add(_ key: EncryptionKey) {
        add(key.method.rawValue)
        add(key.uri ?? "")
        if let iv = key.iv { add(iv[...]) }
        add(key.keyFormat ?? "")
    }

    @inline(__always)
    private mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var index = 0
        while index + 8 <= bytes.count {
            add(Int(bytes.loadUnaligned(fromByteOffset: index, as: Int.self)))
            index += 8
        }
        var rest = 0
        while index < bytes.count {
            rest = rest << 8 | Int(bytes[index])
            index += 1
        }
        add(rest ^ bytes.count)
    }
}
