#if Redis
/// What the server does in one step each; all keys are in `KEYS`, so that a cluster can tell where they are.
///
/// Numbers are doubles in Lua, whole up to 2^53; if one goes out it is formatted, as it would be rounded otherwise.
/// The server's microseconds since 1970 pass 2^53 in the year 2255.
enum Scripts {
    /// Whether the server can be written to.
    static let probe = Script("return redis.call('SET', KEYS[1], '1', 'PX', 1000)")

    /// Of the gates that exist the one that lives longest: its index, its rest, whether it has no end, its payload.
    static let closedGate = Script(
        """
        local best, most, endless = 0, -1, false
        for index, key in ipairs(KEYS) do
          local rest = redis.call('PTTL', key)
          if rest > 0 or rest == -1 then
            local never = rest == -1 or redis.call('HGET', key, 'n') == '1'
            if (never and not endless) or (never == endless and rest > most) then
              best, most, endless = index, rest, never
            end
          end
        end
        if best == 0 then return false end
        return {best, most, endless and 1 or 0, redis.call('HGET', KEYS[best], 'p') or ''}
        """
    )

    /// Closes the gate KEYS[1] for ARGV[1] ms, never shorter than it is closed already.
    ///
    /// KEYS[2] lists what is closed. ARGV[2]: whether it has no end, ARGV[3]: its payload, ARGV[4]: the channel. Who may
    /// not publish closes it all the same: who may not subscribe either asks each time.
    static let close = Script(
        """
        local rest, span = redis.call('PTTL', KEYS[1]), tonumber(ARGV[1])
        local fresh = true
        if rest ~= -2 then
          local never = rest == -1 or redis.call('HGET', KEYS[1], 'n') == '1'
          if ARGV[2] == '1' then
            if rest > span then span = rest end
            fresh = not never
          elseif never or rest >= span then
            return 0
          end
        end
        local life = string.format('%.0f', span)
        if fresh then
          redis.call('DEL', KEYS[1])
          redis.call('HSET', KEYS[1], 'p', ARGV[3], 'n', ARGV[2])
        end
        redis.call('PEXPIRE', KEYS[1], life)
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
        redis.call('ZADD', KEYS[2], string.format('%.0f', now + span), KEYS[1])
        if redis.call('PTTL', KEYS[2]) < span then redis.call('PEXPIRE', KEYS[2], life) end
        redis.pcall('PUBLISH', ARGV[4], '+' .. life .. ' ' .. KEYS[1])
        return fresh and 1 or 0
        """
    )

    /// Opens the gate KEYS[1], which KEYS[2] lists; ARGV[1]: the channel.
    static let open = Script(
        """
        redis.call('ZREM', KEYS[2], KEYS[1])
        local count = redis.call('DEL', KEYS[1])
        if count > 0 then redis.pcall('PUBLISH', ARGV[1], '-' .. KEYS[1]) end
        return count
        """
    )

    /// What the lists in KEYS say is closed, one behind the other: the rest in ms, the name's length, the name.
    ///
    /// It is nothing if they are more than ARGV[1]. One string, as replies of many elements are refused.
    static let allClosed = Script(
        """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local count, closed = 0, {}
        for _, key in ipairs(KEYS) do count = count + redis.call('ZCARD', key) end
        if count > tonumber(ARGV[1]) then return false end
        for _, key in ipairs(KEYS) do
          local list = redis.call('ZRANGEBYSCORE', key, string.format('(%.0f', now), '+inf', 'WITHSCORES')
          for place = 1, #list, 2 do
            local rest = string.format('%.0f', list[place + 1] - now)
            closed[#closed + 1] = rest .. ' ' .. #list[place] .. ' ' .. list[place]
          end
        end
        return table.concat(closed)
        """
    )

    /// Counts one more at a gate that is closed.
    static let joinQueue = Script(
        """
        if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
        return redis.call('HINCRBY', KEYS[1], 'q', 1) - 1
        """
    )

    /// Grants the lease KEYS[1] for ARGV[1] ms to the owner ARGV[2]; KEYS[2] remembers the fence for ARGV[3] ms.
    ///
    /// A fence begins with the time, so it grows even if what was remembered is lost. KEYS[3] remembers which server
    /// grants, since when, the longest that any was granted for, and until when the leases that another has granted
    /// last. Where it names another (a replica that was promoted, a server that was started again), the last leases
    /// may be lost: none is granted until they have run out. A server that was promoted may have lost what KEYS[3] has
    /// named as well: if it names none, the first one asked for waits as long. Nor does it know of a lease that was longer
    /// than all before: one is granted only when as long has passed since the server took over. A user who may not know which
    /// server it is gets none: it could be what another holds.
    static let acquireLease = Script(
        """
        if redis.call('EXISTS', KEYS[1]) == 1 then return false end
        local time = redis.call('TIME')
        local info, span = redis.pcall('INFO', 'server'), tonumber(ARGV[1])
        local refusal = type(info) == 'table' and info.err or ''
        for _, word in ipairs({'NOPERM', 'ACL', "can't run"}) do
          if string.find(refusal, word, 1, true) then return redis.error_reply('NOPERM INFO') end
        end
        local id = type(info) == 'string' and string.match(info, 'run_id:(%x+)')
        if id then
          local home = redis.call('HMGET', KEYS[3], 'id', 'span', 'until', 'since')
          local now = time[1] * 1000 + math.floor(time[2] / 1000)
          local longest = math.max(span, tonumber(home[2]) or 0)
          local ends, since = tonumber(home[3]) or 0, tonumber(home[4]) or 0
          if home[1] ~= id then
            local past = not home[1] and redis.pcall('INFO', 'replication')
            local wasPromoted = type(past) ~= 'string' or not string.find(past, 'second_repl_offset:-1', 1, true)
            if home[1] or wasPromoted then ends, since = now + longest, now end
          end
          if home[1] ~= id or span > (tonumber(home[2]) or 0) then
            local function text(number) return string.format('%.0f', number) end
            redis.call(
              'HSET', KEYS[3], 'id', id, 'span', text(longest), 'until', text(ends), 'since', text(since)
            )
          end
          redis.call('PEXPIRE', KEYS[3], ARGV[3])
          if ends > now or since > 0 and since + span > now then return false end
        end
        local fence, last = time[1] * 1000000 + time[2], tonumber(redis.call('GET', KEYS[2])) or 0
        if last >= fence then fence = last + 1 end
        local text = string.format('%.0f', fence)
        redis.call('SET', KEYS[2], text, 'PX', ARGV[3])
        redis.call('HSET', KEYS[1], 'f', text, 'o', ARGV[2])
        redis.call('PEXPIRE', KEYS[1], ARGV[1])
        return text
        """
    )

    /// Lets the lease live for ARGV[2] ms more, if its fence is ARGV[1].
    static let extendLease = Script(
        """
        if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1] then return 0 end
        return redis.call('PEXPIRE', KEYS[1], ARGV[2])
        """
    )

    /// Ends the lease, if its fence is ARGV[1].
    static let releaseLease = Script(
        """
        if redis.call('HGET', KEYS[1], 'f') ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """
    )

    /// Ends the lease, if its owner is ARGV[1]: one that was granted to a caller who never heard of it.
    static let disownLease = Script(
        """
        if redis.call('HGET', KEYS[1], 'o') ~= ARGV[1] then return 0 end
        return redis.call('DEL', KEYS[1])
        """
    )

    /// `SharedState.BudgetEntry.applied`, with deposit, withdrawal, limit, initial and lifetime in ms.
    static let settle = Script(
        """
        local before = tonumber(redis.call('GET', KEYS[1])) or tonumber(ARGV[4])
        local filled = math.min(before + tonumber(ARGV[1]), math.max(before, tonumber(ARGV[3])))
        local granted = filled >= tonumber(ARGV[2])
        if granted then filled = filled - tonumber(ARGV[2]) end
        local text = string.format('%.0f', filled)
        redis.call('SET', KEYS[1], text, 'PX', ARGV[5])
        return {granted and 1 or 0, text}
        """
    )

    /// Replaces a record by ARGV[2], if its version is ARGV[1] (empty: if there is none), for ARGV[3] ms (empty: for good).
    ///
    /// A version begins with the time, so it grows even if the record is lost.
    static let replaceRecord = Script(
        """
        local version = redis.call('HGET', KEYS[1], 'v') or ''
        if version ~= ARGV[1] then return false end
        local time = redis.call('TIME')
        local new, last = time[1] * 1000000 + time[2], tonumber(version) or 0
        if last >= new then new = last + 1 end
        local text = string.format('%.0f', new)
        redis.call('HSET', KEYS[1], 'v', text, 'b', ARGV[2])
        if ARGV[3] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
        return text
        """
    )
}
#endif
